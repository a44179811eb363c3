// The table of docs/reference/contract.md: no clause of the bank's contract and none of its routes
// is missing, and each names files and a test that exist.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Route } from '../src/bank-contract/route.js';
import * as batchTransfers from '../src/bank-contract/batch-transfers.js';
import * as billPayments from '../src/bank-contract/bill-payments.js';
import * as charges from '../src/bank-contract/charges.js';
import * as customers from '../src/bank-contract/customers.js';
import * as pixLookup from '../src/bank-contract/pix-lookup.js';
import * as refunds from '../src/bank-contract/refunds.js';
import * as statement from '../src/bank-contract/statement.js';
import * as staticQr from '../src/bank-contract/static-qr.js';
import * as transfers from '../src/bank-contract/transfers.js';

const page = readFileSync('docs/reference/contract.md', 'utf8');

/** Every clause of the contract, by its chapter. A new clause is added here first. */
const clauses: Readonly<Record<string, string>> = {
  charges:
    'slip express pix guarantor adjustments adjustment-types due-date amount correlation-id emitter pay expire',
  qr: 'create amount information information-limit spellings key',
  lookup: 'holder belongs',
  transfers: 'key lookup-elsewhere manual internal states refund-status idempotency',
  batch: 'items external-ids content-type idempotency',
  bills: 'query statuses pay pending partial schedule',
  refunds: 'ids result filter received window',
  statement: 'paths pages filters one days end proof received balances',
  customers: 'create enums codes passwords',
  errors: 'key partner not-found statuses',
  events: 'registration charge external-id customers disputes',
  beyond: 'void due-date charges transfer ted qr webhooks',
};

interface Row {
  id: string;
  files: string[];
  test: string;
  title: string;
}

function rowsOf(text: string): Row[] {
  return text.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    const id = /^`([a-z-]+\.[a-z-]+)`$/.exec(cells[1] ?? '')?.[1];
    if (id === undefined) return [];
    const [, test = '', title = ''] = /^`([^`]+)`: (.+)$/.exec(cells[5] ?? '') ?? [];
    const files = [cells[3], cells[4]].map((cell) => cell?.replaceAll('`', '') ?? '');
    return [{ id, files, test, title }];
  });
}

/** What is wrong with a row; empty if nothing is. */
function problemsOf({ id, files, test, title }: Row): string[] {
  const missing = files.filter((file) => !file.startsWith('src/') || !existsSync(file));
  const source = existsSync(test) ? readFileSync(test, 'utf8') : '';
  return [
    ...missing.map((file) => `${id}: no file "${file}"`),
    ...(title !== '' && source.includes(`'${title}'`) ? [] : [`${id}: no test "${title}"`]),
  ];
}

const rows = rowsOf(page);
const expectedIds = Object.entries(clauses).flatMap(([chapter, names]) =>
  names.split(' ').map((name) => `${chapter}.${name}`),
);

describe('docs/reference/contract.md', () => {
  it('has each clause of the contract once', () =>
    expect(rows.map(({ id }) => id).sort()).toEqual([...expectedIds].sort()));

  it('names existing files and an existing test for each clause', () =>
    expect(rows.flatMap(problemsOf)).toEqual([]));

  it('names every route of the contract', () => {
    const modules = [
      ...[batchTransfers, billPayments, charges, customers, pixLookup, refunds, statement],
      ...[staticQr, transfers],
    ];
    const routes = modules
      .flatMap((one) => Object.values(one) as unknown[])
      .filter((value): value is Route => value instanceof Object && 'successStatus' in value)
      // The sandbox bank's own routes are on its page.
      .filter(({ path }) => !path.startsWith('/sandbox/'))
      .map(({ method, path }) => `${method} ${path}`);
    expect(routes.length).toBeGreaterThan(15);
    expect(routes.filter((route) => !page.includes(`\`${route}\``))).toEqual([]);
  });

  it('lets a row fail that names no file or no test', () => {
    const row = '| `charges.slip` | x | `src/none.ts` | `src/cli.ts` | `test/none.ts`: a title |';
    expect(rowsOf(row).flatMap(problemsOf)).toEqual([
      'charges.slip: no file "src/none.ts"',
      'charges.slip: no test "a title"',
    ]);
    expect(rowsOf('| clause | | service | sandbox bank | test |')).toEqual([]);
  });
});
