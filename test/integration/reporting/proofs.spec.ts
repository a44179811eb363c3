// What an outsider can check: the file of the chain, the proof of a line, and the keys.
import { generateKeyPairSync, sign } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { isIncluded, readStatement, verifyChain } from '../../../packages/verifier/src/index.js';
import { thumbprintOf } from '../../../src/access/secrets/signature.js';
import { SigningKeys } from '../../../src/access/secrets/signing-keys.service.js';
import { toCanonicalJson } from '../../../src/platform/json/canonical-json.js';
import { sha256 } from '../../../src/platform/json/exact-json.js';
import { MonthBundles } from '../../../src/reporting/bundle/month-bundles.service.js';
import { Proofs } from '../../../src/reporting/proofs/proofs.service.js';
import { Verifier } from '../../../src/reporting/day-closes/verifier.service.js';
import { ClosedDays, type TestLine } from '../../support/closed-days.js';
import { entriesOf } from '../../support/bundle-entries.js';
import { operatorOf } from '../../support/operator.js';
import { secretBoxOf } from '../../support/secret-box.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const slug = 'audited';
const scopes = ['read', 'personal-data'];
/** Line 3 is of the second day, numbered among those of the first. */
const lines: TestLine[] = [
  { nsu: 1, at: '2026-02-01T12:00:00.000Z', cents: 700 },
  { nsu: 2, at: '2026-02-02T12:00:00.000Z', cents: 1_000 },
  { nsu: 3, at: '2026-02-03T10:00:00.000Z', cents: -280 },
  { nsu: 4, at: '2026-02-02T15:00:00.000Z', cents: -20 },
  { nsu: 8, at: '2026-02-03T15:00:00.000Z', cents: 5_000 },
];
/** Together they change no balance, so that nothing is missed before they come. */
const late: TestLine[] = [
  { nsu: 6, at: '2026-02-02T16:00:00.000Z', cents: 40 },
  { nsu: 7, at: '2026-02-03T11:00:00.000Z', cents: -40 },
];
const all = [...lines.slice(0, 4), ...late, ...lines.slice(4)];

let service: ServiceApplication;
let account: { id: number; goLiveAt: Date };
let apiKey: string;
const closedDays = new ClosedDays(() => ({
  ...{ database: service.database, accountId: 0 },
  drop: () => Promise.resolve(),
}));
const get = async (path: string, key: string | null = apiKey) =>
  service.call('GET', path, key === null ? { headers: {} } : { apiKey: key });
const exported = async () =>
  (await get('/v1/exports/certificates')).text.split('\n').filter((one) => one !== '');
const codesOf = async (records: string[], given: Parameters<typeof verifyChain>[1] = {}) => {
  const { findings, authenticatedBy } = await verifyChain(records, given);
  return [...new Set(findings.map(({ code, where }) => `${code} ${where}`)), authenticatedBy];
};

beforeAll(async () => {
  service = await serviceApplication();
  account = await closedDays.account(slug, new Date('2026-02-02T03:00:00Z'));
  apiKey = (await operatorOf(() => service).createKey(slug, { scopes })).key;
  await closedDays.arrive(account.id, all, (line) => lines.includes(line));
  await closedDays.decide(account.id);
  await closedDays.closedUntil(account.id, '2026-02-03');
  await closedDays.close(account);
});
afterAll(() => service.stop());

describe('the chain of an account', () => {
  it('holds while a day is not over whose line is counted by nsu', async () => {
    const records = await exported();
    expect(records).toHaveLength(1 + 1 + 1 + 2);
    expect(await codesOf(records)).toEqual(['none']);
  });

  it('holds after a late line and with another key, which the first one endorsed', async () => {
    await closedDays.closedUntil(account.id, '2026-02-04');
    await closedDays.close(account);
    await new SigningKeys(secretBoxOf()).rotate(service.database.prisma);
    await closedDays.arrive(account.id, all, (line) => late.includes(line));
    await closedDays.decide(account.id);
    await closedDays.close(account);
    const { keys } = JSON.parse((await get('/.well-known/jwks.json', null)).text);
    expect(keys).toHaveLength(2);
    expect(keys[1]).toMatchObject({ kty: 'OKP', endorsement: { by: keys[0].kid } });
    const records = await exported();
    for (const { kid } of keys) expect(await codesOf(records, { key: kid })).toEqual(['key']);
    const head = (await closedDays.chain(account.id)).at(-1)!.hash;
    expect(await codesOf(records, { head })).toEqual(['head']);
    expect(await verifyChain(records)).toMatchObject({ certificates: 4, lines: 7, head });
    const verifier = new Verifier(service.database, () => undefined);
    expect((await verifier.verify(slug))[0]?.difference).toBeNull();
  });

  it('is complete by what the bank shows, and names what is not', async () => {
    const bank = all.map(
      ({ nsu, at, cents }) => `${nsu};${at};${(cents / 100).toFixed(2).replace('.', ',')}`,
    );
    const records = await exported();
    const compare = (rows: string[]) =>
      codesOf(records, { statement: readStatement(['nsu;createdAt;amount', ...rows].join('\n')) });
    expect(await compare(bank)).toEqual(['none']);
    const hidden = '5;2026-02-03T12:00:00.000Z;-9,99';
    expect(await compare([...bank, hidden])).toEqual(['not_certified nsu 5', 'none']);
    const without = bank.filter((row) => !row.startsWith('6;'));
    expect(await compare(without)).toEqual(['not_at_bank nsu 6', 'none']);
  });

  it.each<[string, (records: string[]) => string[], string]>([
    [
      'a line that was removed',
      (all) => all.filter((one) => !/nsu\\":\\"4\\"/.test(one)),
      'figure',
    ],
    ['an amount', (all) => all.map((one) => one.replace('\\"50.00\\"', '\\"50.01\\"')), 'figure'],
    ['a certificate that was removed', (all) => all.filter((_, at) => at !== 1), 'figure'],
    [
      'a certified figure',
      (all) =>
        all.map((one) => one.replace('\\"credits\\":\\"50.00\\"', '\\"credits\\":\\"51.00\\"')),
      'signature',
    ],
    [
      'a signature',
      (all) => all.map((one) => one.replace(/"signature":"../, '"signature":"zz')),
      'signature',
    ],
  ])('does not hold with %s changed', async (_name, change, code) => {
    const findings = await codesOf(change(await exported()));
    expect(findings.map((one) => one.split(' ')[0])).toContain(code);
  });

  it('names a key that nothing endorses, and what was given and is not there', async () => {
    const records = await exported();
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const { x } = publicKey.export({ format: 'jwk' }) as { x: string };
    const own = { id: thumbprintOf(x), x, endorsement: null };
    const at = records.findLastIndex((one) => one.startsWith('{"certificate"'));
    const last = JSON.parse(JSON.parse(records[at]!).certificate);
    const certificate = toCanonicalJson({ ...last, key: own });
    const signature = sign(null, Buffer.from(certificate), privateKey).toString('base64url');
    const forged = JSON.stringify({ certificate, hash: sha256(certificate), signature });
    const { hash: head } = JSON.parse(records[at]!);
    expect(await codesOf(records.with(at, forged), { head, key: 'x' })).toEqual([
      ...['key_not_endorsed #4 2026-02-03', 'key_unknown x', `head_unknown ${head}`, 'none'],
    ]);
  });
});

it('has a balance chain that goes on after days of the former format', async () => {
  const records = await exported();
  const former = records.map((one, at) => {
    if (!one.startsWith('{"certificate"') || !one.includes('2026-02-02')) return one;
    const { certificate, hash } = JSON.parse(one);
    const { statementRoot, key, decisions, ...rest } = JSON.parse(certificate);
    expect([statementRoot, key, decisions, at]).not.toContain(undefined);
    const text = toCanonicalJson({ ...rest, format: 'concilia-day-close/1' });
    return JSON.stringify({ certificate: text, hash, signature: null });
  });
  const balances = async (all: string[]) =>
    (await codesOf(all)).filter((one) => /balance/i.test(`${one}`));
  expect(await balances(former)).toEqual([]);
  const without = former.filter((one) => !/nsu\\":\\"7\\"/.test(one));
  expect(await balances(without)).toEqual(['balance_chain nsu 8']);
});

describe('the proof of a line', () => {
  it('shows its leaf, or its neighbours where there is none', async () => {
    for (const [nsu, shown] of [
      ...[
        [2, [2]],
        [4, [4]],
        [6, [6]],
        [3, [2, 4]],
        [5, [4, 6]],
        [1, [2]],
        [9, [6]],
      ],
    ] as [number, number[]][]) {
      const { text } = await get(`/v1/day-closes/2026-02-02/proof?nsu=${nsu}`);
      const proof = JSON.parse(text);
      expect(proof).toMatchObject({ nsu, lines: 3, isCertified: shown[0] === nsu });
      expect(proof.leaves.map((one: { nsu: number }) => one.nsu)).toEqual(shown);
      for (const leaf of proof.leaves) {
        expect(isIncluded(leaf, proof.lines, proof.statementRoot)).toBe(true);
        expect(isIncluded({ ...leaf, text: 'x' }, proof.lines, proof.statementRoot)).toBe(false);
      }
    }
  });

  it('is of a certified day of the account alone', async () => {
    expect((await get('/v1/day-closes/2026-02-09/proof?nsu=1')).status).toBe(404);
    expect((await get('/v1/day-closes/2026-02-02/proof')).status).toBe(400);
    const other = await service.call('GET', '/v1/day-closes/2026-02-02/proof?nsu=2');
    expect(other.status).toBe(404);
  });
});

it('is in the pack of an auditor, with the log of decisions and how to verify both', async () => {
  const response = await fetch(`${service.url}/v1/months/2026-02/auditor-pack`, {
    headers: { 'x-service-api-key': apiKey },
  });
  expect(response.status).toBe(200);
  const entries = await entriesOf(Buffer.from(await response.arrayBuffer()));
  const linesOf = (name: string) =>
    entries.get(`${name}-fevereiro-2026.jsonl`)!.toString('utf8').trim().split('\n');
  const decisions = linesOf('decisoes');
  const verified = await verifyChain(linesOf('cadeia-de-certificados'), { decisions });
  expect(verified).toMatchObject({ findings: [], certificates: 4, decisions: decisions.length });
  expect(decisions.length).toBeGreaterThan(0);
  expect([...entries.keys()]).toContain('extrato-fevereiro-2026.csv');
  const readme = entries.get('LEIA-ME.txt')!.toString('utf8');
  expect(readme).toContain(
    'npx @concilia/verifier cadeia-de-certificados-fevereiro-2026.jsonl --decisions ' +
      'decisoes-fevereiro-2026.jsonl',
  );
});

it('ends with one certificate in both files of the pack, whatever is certified meanwhile', async () => {
  const bundles = service.application.get(MonthBundles, { strict: false });
  const proofs = service.application.get(Proofs, { strict: false });
  const read = proofs.decisions.bind(proofs);
  jest.spyOn(proofs, 'decisions').mockImplementation(async function* (...given) {
    await closedDays.run("UPDATE api_key SET scopes = scopes || '{pay}' WHERE account_id = $1", id);
    await closedDays.closedUntil(id, '2026-02-05');
    await closedDays.close(account);
    yield* read(...given);
  });
  const { id } = account;
  const { body } = await bundles.openPack({ accountId: id, scopes }, '2026-02');
  const entries = await entriesOf(await buffer(body));
  jest.restoreAllMocks();
  const linesOf = (name: string) =>
    entries.get(`${name}-fevereiro-2026.jsonl`)!.toString('utf8').trim().split('\n');
  const given = { decisions: linesOf('decisoes') };
  const { findings, certificates } = await verifyChain(linesOf('cadeia-de-certificados'), given);
  expect({ findings, certificates }).toEqual({ findings: [], certificates: 4 });
  expect(await closedDays.chain(id)).toHaveLength(5);
});

it('shows who holds rights to nobody without the scope for personal data', async () => {
  const { key } = await operatorOf(() => service).createKey(slug, { scopes: ['read'] });
  for (const path of ['/v1/exports/decisions', '/v1/months/2026-02/auditor-pack'])
    expect([path, (await get(path, key)).status]).toEqual([path, 403]);
  expect((await get('/v1/exports/certificates', key)).status).toBe(200);
});

it('is found by `concilia verify` where a signature or what was signed was changed', async () => {
  const verifier = new Verifier(service.database, () => undefined);
  const differenceAfter = async (change: string) => {
    await closedDays.tamper(`UPDATE day_close SET ${change} WHERE account_id = $1`, account.id);
    return (await verifier.verify(slug))[0]?.difference;
  };
  expect(await differenceAfter("signature = 'x' || substr(signature, 2)")).toMatchObject({
    ...{ date: '2026-02-02', field: 'signature', found: 'none' },
  });
  expect(await differenceAfter("certificate = replace(certificate, '/2', '/1')")).toMatchObject({
    field: 'certificate',
  });
});
