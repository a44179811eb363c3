// Edits of the database by its owner, without triggers, with all that the owner can make fit. The
// list of docs/reference/certificates.md has what finds each.
import { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { verifyChain } from '../../../packages/verifier/src/index.js';
import { thumbprintOf } from '../../../src/access/secrets/signature.js';
import { SigningKeys, type Signer } from '../../../src/access/secrets/signing-keys.service.js';
import { toCanonicalJson } from '../../../src/platform/json/canonical-json.js';
import { sha256 } from '../../../src/platform/json/exact-json.js';
import { ClosedDays, type TestLine } from '../../support/closed-days.js';
import { operatorOf } from '../../support/operator.js';
import { succeededOperations } from '../../support/parent-rows.js';
import { secretBoxOf } from '../../support/secret-box.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

const slug = 'edited';
const id = '01a1fcf2-0000-7000-8000-000000000001';
const lines: TestLine[] = [
  { nsu: 1, at: '2026-02-02T12:00:00.000Z', cents: 1_000 },
  { nsu: 2, at: '2026-02-02T13:00:00.000Z', cents: -250 },
  { nsu: 3, at: '2026-02-03T12:00:00.000Z', cents: 500 },
  { nsu: 4, at: '2026-02-04T12:00:00.000Z', cents: 70 },
];
const tables = [
  ...['line_decision', 'rule_version', 'operation_approval', 'approval_policy_change'],
  ...['audit_entry', 'api_key', 'operator_role', 'decision_log_entry', 'break_comment', 'event'],
];

let service: ServiceApplication;
let account: { id: number; goLiveAt: Date };
let apiKey: string;
let head: string;
const closedDays = new ClosedDays(() => ({
  ...{ database: service.database, accountId: 0 },
  drop: () => Promise.resolve(),
}));
const set = (table: string, change: string, where = 'true') =>
  `UPDATE "${table}" SET ${change} WHERE account_id = $1 AND ${where}`;
const remove = (table: string, where = 'true') =>
  `DELETE FROM "${table}" WHERE account_id = $1 AND ${where}`;
const unlogged = (kind: string) => remove('decision_log_entry', `kind = '${kind}'`);
/** The last certificate again, with other figures, signed by the service or by another key. */
const forged = async ({ key, sign: write }: Signer) => {
  const { certificate, sequence } = (await closedDays.chain(account.id)).at(-1)!;
  const text = toCanonicalJson({ ...JSON.parse(certificate), lines: 2, key });
  const written = `certificate = '${text}', hash = '${sha256(text)}', signature = '${write(text)}'`;
  return [
    set('day_close', `${written}, line_count = 2`, `sequence = ${sequence}`),
    set('event', `data = replace(data::text, '${head}', '${sha256(text)}')::json`),
  ];
};
const signer = () => new SigningKeys(secretBoxOf()).current(service.database.prisma);
const otherSigner = (): Signer => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const x = publicKey.export({ format: 'jwk' }).x!;
  return {
    key: { id: thumbprintOf(x), x, endorsement: null },
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64url'),
  };
};

/** What was edited, how, and what finds it, as the page has it. */
const edits: [edit: string, sql: () => string[] | Promise<string[]>, finder: string][] = [
  ['amount of a line', () => [set('statement_line', 'amount_cents = 9', 'nsu = 1')], 'verifier'],
  [
    'names and text of a line',
    () => [set('statement_line', "content = '{}', content_hash = 'x'", 'nsu = 1')],
    'verifier',
  ],
  ['a line removed', () => [remove('statement_line', 'nsu = 2')], 'verifier'],
  [
    'a line added',
    () => [
      `INSERT INTO statement_line SELECT (jsonb_populate_record(t, '{"nsu":9,"arrival":-1}')).*
     FROM statement_line t WHERE account_id = $1 AND nsu = 1`,
    ],
    'verifier',
  ],
  ['figures of a certificate, signed again', async () => forged(await signer()), 'verifier'],
  [
    'the last certificate removed',
    () => [
      remove('event', "type LIKE 'day_close.%' AND sequence = (SELECT max(sequence) FROM event)"),
      remove('day_close', 'sequence = 2'),
      set('day_close_state', "next_date = '2026-02-03'"),
    ],
    'verifier',
  ],
  ['a certificate signed by another key', () => forged(otherSigner()), 'verifier'],
  ['a decision changed', () => [set('line_decision', "action = 'unlink'")], 'verifier'],
  ['a decision removed', () => [remove('line_decision'), unlogged('line_decision')], 'verifier'],
  ['who approved a payment', () => [set('operation_approval', "actor = 'person:x'")], 'verifier'],
  ['an approval policy', () => [set('approval_policy_change', 'above_cents = NULL')], 'verifier'],
  ['the audit', () => [set('audit_entry', "action = 'sign in'")], 'verifier'],
  [
    'the outcome of a line',
    () => [set('line_outcome', "label = 'fee'", 'nsu = 1')],
    '`concilia verify`',
  ],
  [
    'why a line needs no match',
    () => [set('classification', "category = 'fee'", 'nsu = 1')],
    '`concilia verify`',
  ],
  ['a rule', () => [set('rule_version', `definition = '{"a":1}'`)], '`concilia verify`'],
  [
    'rights of a key',
    () => [set('api_key', "scopes = '{read,personal-data,pay}'")],
    '`concilia verify`',
  ],
  [
    'an approval made up',
    () => [
      `INSERT INTO operation_approval (account_id, operation_id, holder, decision, actor, reason)
     VALUES ($1, '${id}', 'h2', 'approve', 'person:y', 'r')`,
    ],
    '`concilia verify`',
  ],
  [
    'a line that is not certified yet, removed',
    () => [
      remove('statement_line', 'nsu = 4'),
      remove('line_outcome', 'nsu = 4'),
      remove('classification', 'nsu = 4'),
      set('statement_state', 'line_count = 3, last_nsu = 3, balance_cents = 11250'),
    ],
    'nothing',
  ],
  [
    'a decision that is not certified yet',
    () => [set('line_decision', "reason = 'x'", 'nsu = 3')],
    'nothing',
  ],
  ['the name of a key', () => [set('api_key', "name = 'x'")], 'nothing'],
];

/** As the page names them, in its order. */
const finders = new Map([
  ['verifier', 'Found by the verifier with an earlier head'],
  ['`concilia verify`', 'Found by `concilia verify`'],
  ['nothing', 'Not provable'],
]);

const decide = `INSERT INTO line_decision (account_id, nsu, action, allocations, actor, reason)
                VALUES ($1, $2, 'link', '[]', 'key:1', 'r')`;
const facts = [
  `INSERT INTO rule (account_id, id, name) VALUES ($1, '${id}', 'fees')`,
  `INSERT INTO rule_version (account_id, rule_id, version, state, priority, action, definition)
   VALUES ($1, '${id}', 1, 'active', 1, 'classify', '{}')`,
  succeededOperations({ id: `'${id}'::uuid` }),
  `INSERT INTO operation_approval_request (account_id, operation_id, needed, source, condition,
     requested_by, holder, request_hash, expires_at)
   VALUES ($1, '${id}', 1, 'api', 'amount', 'key:1', 'h1', 'x', now())`,
  `INSERT INTO operation_approval (account_id, operation_id, holder, decision, actor, reason)
   VALUES ($1, '${id}', 'h3', 'approve', 'person:z', 'r')`,
  `INSERT INTO approval_policy_change (account_id, sequence, above_cents, new_beneficiary, kinds,
     sources, approvals, expires_after_hours, is_in_force, actor, holder)
   VALUES ($1, 1, 5000, true, '{}', '{}', 1, 24, true, 'key:1', 'h1')`,
  `INSERT INTO audit_entry (id, account_id, action, subject)
   VALUES ('${id}', $1, 'change approval policy', 'account 1')`,
];

beforeAll(async () => {
  service = await serviceApplication();
  account = await closedDays.account(slug, new Date('2026-02-02T03:00:00Z'));
  apiKey = (await operatorOf(() => service).createKey(slug, { scopes: ['read', 'personal-data'] }))
    .key;
  await closedDays.arrive(account.id, lines);
  await closedDays.decide(account.id);
  for (const fact of facts) await closedDays.run(fact, account.id);
  await closedDays.run(decide, account.id, 2);
  await closedDays.closedUntil(account.id, '2026-02-04');
  await closedDays.close(account);
  await closedDays.run(decide, account.id, 3);
  head = (await closedDays.chain(account.id)).at(-1)!.hash;
  await closedDays.save(account.id, tables);
});
afterEach(() => closedDays.restore(account.id, tables));
afterAll(() => service.stop());

const exported = async (subject: string) =>
  (await service.call('GET', `/v1/exports/${subject}`, { apiKey })).text.trim().split('\n');

/** What an auditor's verifier finds with the head of before, or else the service's own. */
async function finderOf(): Promise<string> {
  const decisions = await exported('decisions');
  const { findings, isHeadLast } = await verifyChain(await exported('certificates'), {
    head,
    decisions,
  });
  if (findings.length > 0) return 'verifier';
  expect(isHeadLast).toBe(true);
  return (await closedDays.verify(slug))?.difference ? '`concilia verify`' : 'nothing';
}

it('finds nothing where nothing was edited', async () => {
  await closedDays.tamper(set('api_key', 'name = name'), account.id);
  expect(await finderOf()).toBe('nothing');
});

it.each(edits)('%s', async (_edit, sql, finder) => {
  for (const change of await sql()) await closedDays.tamper(change, account.id);
  expect(await finderOf()).toBe(finder);
});

it('are twenty, as the page has them', () => {
  const page = readFileSync(
    join(import.meta.dirname, '../../../docs/reference/certificates.md'),
    'utf8',
  );
  const rows = [...page.matchAll(/^- (.+?): (.+)$/gm)].filter(([, found = '']) =>
    [...finders.values()].includes(found),
  );
  const onPage = rows.map(([, found, list = '']) => [found, list.split('; ')]);
  expect(edits).toHaveLength(20);
  expect(onPage).toEqual(
    [...finders].map(([finder, found]) => [
      found,
      edits.filter((one) => one[2] === finder).map(([edit]) => edit),
    ]),
  );
});
