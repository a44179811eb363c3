import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { matchRule, matchedByRule, RulesSetup } from '../../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

const documents = ['11144477735', '52998224725', '39053344705', '12345678909'] as const;

const nothing = { state: 'pending', label: null, ruleId: null, payments: { count: 0, ids: [] } };
const only = (id: string) => ({ count: 1, ids: [id] });

describe('a trial of a rule', () => {
  let service: ServiceDatabase;
  const setup = new RulesSetup(() => service);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());
  const useAccount = async (slug: string) => {
    const data = { slug, goLiveAt: new Date(0) };
    service.accountId = (await service.database.prisma.bankAccount.create({ data })).id;
  };
  const changesOf = async (ruleId: string, id: string) => {
    const shown = await setup.trials().getChanges(service.accountId, ruleId, { id, figure: null });
    return shown.changes;
  };

  it('reports matched, unmatched, ambiguous and conflicting lines, and changes nothing', async () => {
    const [anna, bruno, carla, davi] = documents;
    const exact = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    const near = await setup.addExpectedPayment({ cents: 2_000, document: bruno });
    await setup.addExpectedPayment({ cents: 3_000, document: carla });
    await setup.addExpectedPayment({ cents: 3_000, document: carla });
    await setup.addExpectedPayment({ cents: 4_000, document: davi, correlationId: 'named' });
    await setup.addExpectedPayment({ cents: 4_000, document: davi });
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna });
    await setup.addLine({ nsu: 2, cents: 1_990, document: bruno });
    await setup.addLine({ nsu: 3, cents: 3_000, document: carla });
    await setup.addLine({ nsu: 4, cents: 4_000, document: davi, correlationId: 'named' });
    await setup.addLine({ nsu: 5, cents: 7, document: anna });
    await setup.decide();
    const ruleId = await setup.declareRule(matchRule({ tolerance: { amount: 10n } }));
    const before = await setup.outcomes();
    const trial = await setup.runTrial(ruleId);
    expect(await setup.outcomes()).toEqual(before);
    expect(trial).toMatchObject({
      lines: 5,
      matchedMore: { count: 2, nsus: [1n, 2n] },
      classifiedMore: { count: 0 },
      less: { count: 0 },
      ambiguous: { count: 1, nsus: [3n] },
      conflicts: { count: 1, nsus: [4n] },
      tolerated: { count: 1, amount: 10n },
    });
    await setup.catalog().activate(setup.actor(), ruleId, 1);
    await setup.decide();
    expect(await setup.outcomes()).toMatchObject({
      1: [matchedByRule(exact, 1_000)],
      2: [matchedByRule(near, 1_990)],
      3: ['ambiguous'],
      5: ['unexpected'],
    });

    await setup.catalog().addVersion(setup.actor(), ruleId, matchRule({}));
    expect(await setup.runTrial(ruleId, 2)).toMatchObject({
      matchedMore: { count: 0 },
      less: { count: 1, nsus: [2n] },
      ambiguous: { count: 0 },
    });
    await setup.catalog().activate(setup.actor(), ruleId, 2);
    await setup.decide();
    expect(await setup.outcomes()).toMatchObject({
      1: [matchedByRule(exact, 1_000)],
      2: ['unexpected'],
    });
  });

  it('stores the outcomes of the lines it would change, before and after', async () => {
    await useAccount('changes');
    const [anna, bruno] = documents;
    const paid = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    await setup.addLine({ nsu: 1, cents: 1_000, document: anna });
    await setup.addLine({
      nsu: 2,
      cents: 50,
      document: bruno,
      typeName: 'DEBIT_X',
      isCredit: false,
    });
    const feeOf = (classify: 'fee' | 'tariff') => ({
      ...{ priority: 5, when: { types: ['DEBIT_X'] }, reason: 'test' },
      then: { classify, reason: 'of the bank' },
    });
    const fees = await setup.declareActiveRule(feeOf('fee'));
    await setup.decide();
    const matching = await setup.declareRule(matchRule({}));
    const matched = await setup.runTrial(matching);
    expect(await changesOf(matching, matched.id)).toEqual([
      {
        ...{ nsu: 1n, figure: 'matchedMore' },
        before: { ...nothing, state: 'in_break', label: 'unexpected' },
        after: { ...nothing, state: 'matched', ruleId: matching, payments: only(paid) },
      },
    ]);
    await setup.catalog().addVersion(setup.actor(), fees, feeOf('tariff'));
    const changed = await setup.runTrial(fees, 2);
    expect(changed).toMatchObject({ changed: { count: 1, nsus: [2n] }, less: { count: 0 } });
    const fee = { ...nothing, state: 'classified', label: 'fee', ruleId: fees };
    expect(await changesOf(fees, changed.id)).toEqual([
      { nsu: 2n, figure: 'changed', before: fee, after: { ...fee, label: 'tariff' } },
    ]);
  });

  it('is shown to a person who activates what it showed, and nothing else', async () => {
    await useAccount('shown');
    const ruleId = await setup.declareRule(matchRule({}));
    const other = await setup.declareActiveRule(matchRule({}));
    const first = await setup.runTrial(ruleId);
    const second = await setup.runTrial(ruleId);
    const activate = (trialId: string) =>
      setup.catalog().activate(setup.actor(), ruleId, 1, trialId);
    const outdated = { details: { reason: 'trial_outdated' } };
    await expect(activate(first.id)).rejects.toMatchObject(outdated);
    await setup.catalog().retire(setup.actor(), other, 1);
    await expect(activate(second.id)).rejects.toMatchObject(outdated);
    const third = await setup.runTrial(ruleId);
    await activate(third.id);
    expect((await setup.catalog().get(service.accountId, ruleId)).activeVersion).toBe(1);
  });

  it('does not count when another rule is activated while it runs', async () => {
    await useAccount('meanwhile');
    const ruleId = await setup.declareRule(matchRule({}));
    const other = await setup.declareRule(matchRule({}));
    const key = { ruleId, version: 1 };
    const trial = await setup
      .trials()
      .run(setup.actor(), key, { to: '2026-06-30' }, () => setup.activate(other));
    const activate = (...shown: [] | [string]) =>
      setup.catalog().activate(setup.actor(), ruleId, 1, ...shown);
    await expect(activate()).rejects.toMatchObject({ details: { reason: 'trial_needed' } });
    await expect(activate(trial.id)).rejects.toMatchObject({
      details: { reason: 'trial_outdated' },
    });
  });

  it('decides a closed period again, where activation changes nothing', async () => {
    await useAccount('closed');
    const [anna] = documents;
    const id = await setup.addExpectedPayment({ cents: 1_000, document: anna });
    const ruleId = await setup.declareActiveRule(matchRule({ tolerance: { amount: 10n } }));
    await setup.addLine({ nsu: 1, cents: 995, document: anna });
    await setup.closePeriodUntil('2026-06-20');
    await setup.decide();
    await setup.catalog().addVersion(setup.actor(), ruleId, matchRule({}));
    const trial = await setup.runTrial(ruleId, 2);
    expect(trial).toMatchObject({ lines: 1, less: { count: 1, nsus: [1n] } });
    await setup.catalog().activate(setup.actor(), ruleId, 2);
    await setup.decide();
    expect(await setup.outcomes()).toEqual({ 1: [matchedByRule(id, 995)] });
  });
});
