import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { matchRule, matchedByRule, RulesSetup } from '../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const documents = ['11144477735', '52998224725', '39053344705', '12345678909'] as const;

describe('a trial of a rule', () => {
  let service: ServiceDatabase;
  const setup = new RulesSetup(() => service);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());

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

  it('decides a closed period again, where activation changes nothing', async () => {
    const account = await service.database.prisma.bankAccount.create({
      data: { slug: 'closed', goLiveAt: new Date(0) },
    });
    service.accountId = account.id;
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
