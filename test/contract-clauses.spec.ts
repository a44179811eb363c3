// The table of docs/reference/contract.md: no clause of the bank's contract and none of its routes
// is missing, and each names files that exist. The test of each clause is named here.
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

/** Every clause of the contract, and the test of its file that would fail without it. */
const testOfClause: Readonly<Record<string, string>> = {
  'charges.slip':
    'issues a conventional slip with an ourNumber, and codes with the requested amount and date',
  'charges.express': 'returns the ourNumber of an express slip',
  'charges.pix': 'returns a slip with a QR code in the shape of a static Pix charge',
  'charges.guarantor': 'accepts a finalBeneficiary with %s',
  'charges.adjustments': 'adds fine and interest to the payment of a late slip',
  'charges.adjustment-types':
    'issues only Fixed and Percentage adjustments, or any type without changing the amount',
  'charges.due-date': 'rejects the dueDate %p at $.dueDate',
  'charges.amount': 'takes one spelling of Amount, and rejects two',
  'charges.correlation-id':
    'identifies a repeated charge by its correlationId, which is unique in every mode',
  'charges.emitter': 'issues slips for authorized emitters only, and QR codes for any account',
  'charges.pay': 'returns 404 for a charge that was never issued',
  'charges.expire': 'expires a slip, which can still be paid',
  'qr.create': 'returns a payload with the requested values, and its image',
  'qr.amount': 'lets the payer choose the amount when the request has none',
  'qr.information':
    'returns the 64 characters of additionalInformation whole, and as many in the payload as fit',
  'qr.information-limit': 'rejects an additionalInformation of more than 64 characters',
  'qr.spellings':
    'accepts the header in any letter case, and additionalInfo for additionalInformation',
  'qr.key': 'finds each way of writing refused where the bank’s mode says so',
  'lookup.holder': 'returns the holder of the key with a partly masked document',
  'lookup.belongs': 'reports whether the key belongs to a given document',
  'transfers.key': 'sends a Pix with the endToEndId of a look-up, and debits the amount',
  'transfers.lookup-elsewhere':
    'passes on a look-up that was made without the service, for one transfer',
  'transfers.manual': 'sends a Pix without a look-up',
  'transfers.internal': 'is effective at once, with its externalId and without an endToEndId',
  'transfers.states': 'is checked until the bank reports it effective, with one event',
  'transfers.refund-status':
    'is checked for a month at most, and then once for each webhook that names it',
  'transfers.idempotency':
    'executes one transfer per IdempotencyKey, and returns the same response to each repeat',
  'batch.items': 'executes every item, and returns the results in the order of the items',
  'batch.external-ids': 'are passed on when items share an externalId, and not distinguished by it',
  'batch.content-type':
    'accepts items without an externalId, and the content type application/json',
  'batch.idempotency':
    'executes one batch per IdempotencyKey, and returns the same response to each repeat',
  'bills.query':
    'returns a bill by its bar code and by its digitable line, with and without punctuation',
  'bills.statuses': 'lists its fixtures, with valid codes and keys',
  'bills.pay':
    'pays or schedules a bill once, and returns the same response to a repeat of the key',
  'bills.pending': 'rejects the payment of a paid bill, and an amount above the maximum',
  'bills.partial': 'may be partial when the bill allows it, and only once',
  'bills.schedule': 'outside business hours is paid once when they next begin',
  'refunds.ids': 'refunds in parts, by each of the three ids, up to the received amount',
  'refunds.result': 'shows the refund on the statement exactly as in the response',
  'refunds.filter': 'are rejected without filterBy',
  'refunds.received': 'rejects the refund of a refund',
  'refunds.window': 'counts the window by days of São Paulo: open on day 90, closed on day 91',
  'statement.paths': 'returns the same lines under v1',
  'statement.pages': 'returns ten lines by default, and pages without overlap or gap',
  'statement.filters': 'filters by direction and by one or several types',
  'statement.one': 'returns exactly the line with a given nsu or endToEndId',
  'statement.days': 'begins days at 03:00Z, includes startDate and excludes endDate',
  'statement.end': 'ends the statement before 03:00:00.000Z of endDate, or with it',
  'statement.proof': 'shows every line with a proof that is an object',
  'statement.received': 'shows a received Pix with its proof',
  'statement.balances': 'shows an unbroken chain of balances',
  'customers.create': 'creates a customer',
  'customers.enums': 'accepts enum values in the spelling of the contract’s lists',
  'customers.codes': 'accepts verification codes of 4 to 8 digits, or of any length',
  'customers.passwords': 'are in no table and no log, whether a request is accepted or refused',
  'errors.key': 'rejects a request with %s with 401, before it validates the request',
  'errors.partner': 'an API key in place of the partner key, and the reverse',
  'errors.not-found': 'returns 404 with the error body for an unknown path',
  'errors.statuses':
    'declares the statuses of a route that changes something, and of one that reads',
  'events.registration':
    'registers every published event type, and goes on where the bank refuses one',
  'events.charge':
    'sends the payment of a static QR code with its correlationId, and an unexpected Pix without',
  'events.external-id': 'send a webhook to both accounts',
  'events.customers': 'is shown as approved once, whatever comes after',
  'events.disputes':
    'has a break with its deadline and is not refunded, until the bank has returned it',
  'beyond.void': 'is passed on, cancels the charge and is reported once',
  'beyond.due-date': 'is passed on and counts from then on',
  'beyond.charges': 'return charges and balances as the bank has them',
  'beyond.transfer': 'return a transfer by each of its ids, also by the id of its operation',
  'beyond.ted': 'is sent once for its key, and settled by its line',
  'beyond.qr': 'returns it by its correlationId and transactionId, as it was created',
  'beyond.webhooks': 'of a payment is sent after its line is there, with the bytes of the bank',
};

interface Row {
  id: string;
  files: string[];
  test: string;
}

function rowsOf(text: string): Row[] {
  return text.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    const id = /^`([a-z-]+\.[a-z-]+)`$/.exec(cells[1] ?? '')?.[1];
    if (id === undefined) return [];
    const [service = '', sandbox = '', test = ''] = cells
      .slice(3)
      .map((cell) => cell.replaceAll('`', ''));
    return [{ id, files: [service, sandbox], test }];
  });
}

/** What is wrong with a row; empty if nothing is. */
function problemsOf({ id, files, test }: Row): string[] {
  const missing = files.filter((file) => !file.startsWith('src/') || !existsSync(file));
  const title = testOfClause[id];
  const source = existsSync(test) ? readFileSync(test, 'utf8') : '';
  return [
    ...missing.map((file) => `${id}: no file "${file}"`),
    ...(title !== undefined && source.includes(`'${title}'`) ? [] : [`${id}: no test "${title}"`]),
  ];
}

const rows = rowsOf(page);

describe('docs/reference/contract.md', () => {
  it('has each clause of the contract once', () =>
    expect(rows.map(({ id }) => id).sort()).toEqual(Object.keys(testOfClause).sort()));

  it('has an existing test for each clause, and names existing files', () =>
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
    const row = '| `charges.slip` | x | `src/none.ts` | `src/cli.ts` | `test/none.ts` |';
    expect(rowsOf(row).flatMap(problemsOf)).toEqual([
      'charges.slip: no file "src/none.ts"',
      `charges.slip: no test "${testOfClause['charges.slip']}"`,
    ]);
    expect(rowsOf('| clause | | service | sandbox bank | test |')).toEqual([]);
  });
});
