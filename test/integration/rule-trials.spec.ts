import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { matchRule, paysByRule, RulesSetup } from '../support/rules-setup.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const documents = ['11144477735', '52998224725', '39053344705', '12345678909'] as const;

describe('a trial of a rule', () => {
  let service: ServiceDatabase;
  const room = new RulesSetup(() => service);

  beforeAll(async () => {
    service = await serviceDatabase();
  });
  afterAll(() => service.drop());

  it('tells what would be more, less, ambiguous and at odds, changes nothing, and comes true', async () => {
    const [anna, bruno, carla, davi] = documents;
    const exact = await room.expect({ cents: 1_000, document: anna });
    const near = await room.expect({ cents: 2_000, document: bruno });
    await room.expect({ cents: 3_000, document: carla });
    await room.expect({ cents: 3_000, document: carla });
    await room.expect({ cents: 4_000, document: davi, correlationId: 'named' });
    await room.expect({ cents: 4_000, document: davi });
    await room.line({ nsu: 1, cents: 1_000, document: anna });
    await room.line({ nsu: 2, cents: 1_990, document: bruno });
    await room.line({ nsu: 3, cents: 3_000, document: carla });
    await room.line({ nsu: 4, cents: 4_000, document: davi, correlationId: 'named' });
    await room.line({ nsu: 5, cents: 7, document: anna });
    await room.decide();
    const ruleId = await room.declare(matchRule({ tolerance: { amount: 10n } }));
    const before = await room.book();
    const trial = await room.tryOut(ruleId);
    expect(await room.book()).toEqual(before);
    expect(trial).toMatchObject({
      lines: 5,
      matchedMore: { count: 2, nsus: [1n, 2n] },
      classifiedMore: { count: 0 },
      less: { count: 0 },
      ambiguous: { count: 1, nsus: [3n] },
      conflicts: { count: 1, nsus: [4n] },
      tolerated: { count: 1, amount: 10n },
    });
    await room.catalog().activate(room.by(), ruleId, 1);
    await room.decide();
    expect(await room.book()).toMatchObject({
      1: [paysByRule(exact, 1_000)],
      2: [paysByRule(near, 1_990)],
      3: ['ambiguous'],
      5: ['unexpected'],
    });

    await room.catalog().addVersion(room.by(), ruleId, matchRule({}));
    expect(await room.tryOut(ruleId, 2)).toMatchObject({
      matchedMore: { count: 0 },
      less: { count: 1, nsus: [2n] },
      ambiguous: { count: 0 },
    });
    await room.catalog().activate(room.by(), ruleId, 2);
    await room.decide();
    expect(await room.book()).toMatchObject({ 1: [paysByRule(exact, 1_000)], 2: ['unexpected'] });
  });
});
