// What follows from the declarations of kinds: tables of docs/, names and orders.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { maskResponse } from '../src/access/counterparties/masked-response.js';
import { referenceKindDeclarations } from '../src/statement/expected-payments/references.js';
import { errorCodes } from '../src/bank-contract/error-codes.js';
import { operationKindNames, sendingKinds } from '../src/bank-contract/operation-kinds.js';
import {
  breakKinds,
  type BreakKindDeclaration,
} from '../src/reconciliation/decide/break-kind-declarations.js';
import { expectTable } from './support/docs-table.js';

describe('a kind of break', () => {
  const kinds: [string, BreakKindDeclaration][] = Object.entries(breakKinds);

  it('has its row in docs/reference/breaks.md', () => {
    expectTable(
      'docs/reference/breaks.md',
      ['kind', 'name', 'why', 'resolved when', 'what to do', 'severity', 'refund'],
      kinds.map(([kind, { name, why, resolvedWhen, whatToDo, severityAtLeast, refund }]) => [
        `\`${kind}\``,
        name[0],
        why[1].replace('{amount}', 'R$ …'),
        resolvedWhen,
        whatToDo[1],
        severityAtLeast === 'low' ? '' : `${severityAtLeast} or more`,
        refund ?? '',
      ]),
    );
  });

  it('has a name of its own in each language', () => {
    for (const language of [0, 1] as const)
      expect(new Set(kinds.map(([, { name }]) => name[language])).size).toBe(kinds.length);
  });

  it('has its own place among the findings about one line', () => {
    const places = kinds.flatMap(([, kind]) => ('precedence' in kind ? [kind.precedence] : []));
    expect(new Set(places).size).toBe(places.length);
  });
});

it('the modules register the declared kinds of operations once, and those that send money as such', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' });
  const registered = files
    .filter((path) => path.endsWith('.service.ts'))
    .flatMap((path) => [
      ...readFileSync(join('src', path), 'utf8').matchAll(
        /\bname: '(\w+)',\n\s*(sendsMoney|route)\b/g,
      ),
    ]);
  const names = (all: typeof registered) => all.map(([, name]) => name).sort();
  expect(names(registered)).toEqual([...operationKindNames].sort());
  const sending = registered.filter(([, , field]) => field === 'sendsMoney');
  expect(names(sending)).toEqual([...sendingKinds].sort());
});

it('a reference is masked where its kind is declared personal', () => {
  const value = '00000208/1/1234567';
  for (const [kind, { isPersonal }] of Object.entries(referenceKindDeclarations)) {
    const shown = [maskResponse({ kind, value }), maskResponse({ referenceKind: kind, value })];
    expect([kind, ...shown.map((one) => one.value !== value)]).toEqual([
      ...[kind, isPersonal, isPersonal],
    ]);
  }
});

it('each code of an error is answered somewhere', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !/generated|\.spec\.|error-codes/.test(path))
    .map((path) => readFileSync(join('src', path), 'utf8'))
    .join('\n');
  const words = new Set(sources.match(/\b[a-z_]+\b/g));
  expect(errorCodes.filter((code) => !words.has(code))).toEqual([]);
});
