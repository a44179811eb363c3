// Heads of a chain outside the database: in a file, and before a timestamp authority.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { verifyChain } from '../../../packages/verifier/src/index.js';
import { HeadAnchors } from '../../../src/reporting/anchors/head-anchors.service.js';
import {
  countHeadsToAnchor,
  listAccountsToAnchor,
} from '../../../src/reporting/anchors/anchors.queries.js';
import type { Settings } from '../../../src/platform/settings/config.js';
import { ClosedDays, type TestLine } from '../../support/closed-days.js';
import { operatorOf } from '../../support/operator.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';
import { TimestampAuthority } from '../../support/timestamp-authority.js';

const slug = 'anchored';
const lines: TestLine[] = [
  { nsu: 1, at: '2026-02-02T12:00:00.000Z', cents: 1_000 },
  { nsu: 2, at: '2026-02-03T12:00:00.000Z', cents: 500 },
];
const authority = new TimestampAuthority();
const file = join(authority.folder, 'heads.jsonl');
let service: ServiceApplication;
let account: { id: number; goLiveAt: Date };
let apiKey: string;
let anchors: HeadAnchors;
let timestampUrl: string;
const closedDays = new ClosedDays(() => ({
  ...{ database: service.database, accountId: 0 },
  drop: () => Promise.resolve(),
}));
const anchor = () => anchors.anchor({ id: account.id, slug });
const heads = () =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((one) => JSON.parse(one));
const waiting = async () =>
  (await listAccountsToAnchor(service.database.prisma, anchors.kinds)).map((one) => one.accountId);
const closeUntil = async (day: string) => {
  await closedDays.closedUntil(account.id, day);
  await closedDays.close(account);
};

beforeAll(async () => {
  service = await serviceApplication();
  timestampUrl = await authority.start();
  const settings = { anchors: { file, timestampUrl } } as Settings;
  anchors = new HeadAnchors(service.database, settings);
  account = await closedDays.account(slug, new Date('2026-02-02T03:00:00Z'));
  apiKey = (await operatorOf(() => service).createKey(slug, { scopes: ['read'] })).key;
  await closedDays.arrive(account.id, lines);
  await closedDays.decide(account.id);
});
afterAll(async () => {
  authority.stop();
  await service.stop();
});

it('goes into the file while the authority is away, which is asked again', async () => {
  expect(await waiting()).toEqual([]);
  await closeUntil('2026-02-03');
  authority.isAway = true;
  await expect(anchor()).rejects.toThrow('granted nothing: status 503');
  const [{ hash, sequence, date, revision }] = (await closedDays.chain(account.id)) as [never];
  expect(heads()).toEqual([{ account: slug, sequence, date, revision, hash }]);
  expect(await waiting()).toEqual([account.id]);
  const counted = (kinds = anchors.kinds) => countHeadsToAnchor(service.database.prisma, kinds);
  expect(await counted()).toEqual([
    { kind: 'file', heads: 0 },
    { kind: 'timestamp', heads: 1 },
  ]);
  await closeUntil('2026-02-04');
  expect((await counted()).map(({ heads: count }) => count)).toEqual([1, 2]);
  expect((await counted(['file'])).map(({ heads: count }) => count)).toEqual([1, 0]);
  authority.isAway = false;
  await anchor();
  await anchor();
  const chain = await closedDays.chain(account.id);
  expect(heads().map((head) => head.hash)).toEqual(chain.map((link) => link.hash));
  expect(await waiting()).toEqual([]);
  expect(authority.requests).toBe(2);
});

it('goes to the authority while the file fails, and reads no endless response', async () => {
  const settings = { anchors: { file: authority.folder, timestampUrl } } as Settings;
  const failing = new HeadAnchors(service.database, settings);
  await closeUntil('2026-02-05');
  authority.isEndless = true;
  await expect(anchor()).rejects.toThrow('granted nothing');
  authority.isEndless = false;
  const { length } = await closedDays.chain(account.id);
  expect(heads()).toHaveLength(length);
  await closeUntil('2026-02-06');
  await expect(failing.anchor({ id: account.id, slug })).rejects.toThrow('EISDIR');
  const { rows } = await closedDays.run(
    "SELECT max(sequence) AS last FROM head_anchor WHERE account_id = $1 AND kind = 'timestamp'",
    account.id,
  );
  expect(rows).toEqual([{ last: length + 1 }]);
  await anchor();
  await expect(closedDays.run('TRUNCATE head_anchor')).rejects.toThrow('is append-only');
});

it('has a token with the exported certificates, which `openssl ts -verify` accepts', async () => {
  const { text } = await service.call('GET', '/v1/exports/certificates', { apiKey });
  const records = text.trim().split('\n');
  const stamped = records.map((one) => JSON.parse(one)).filter(({ timestamp }) => timestamp);
  expect(stamped).toHaveLength(2);
  const { hash, timestamp } = stamped.at(-1);
  const response = Buffer.from(timestamp, 'base64');
  expect(hash).toBe((await closedDays.chain(account.id)).at(-1)?.hash);
  expect(authority.verify(response, hash)).toContain('Verification: OK');
  const other = hash.replace(/^./, (digit: string) => (digit === '0' ? '1' : '0'));
  expect(() => authority.verify(response, other)).toThrow();
  expect((await verifyChain(records, { head: hash })).authenticatedBy).toBe('head');
});
