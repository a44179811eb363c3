// A kind of each sort, added on trial: the compiler names every place that has to know of it. The
// trial is in memory alone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, jest } from '@jest/globals';
import ts from 'typescript';

jest.setTimeout(120_000);

interface Trial {
  declaredIn: string;
  marker: string;
  /** Its name, and each of the answers that its declaration needs. */
  name: string;
  answers: Readonly<Record<string, string>>;
  /** Where it is missing, once it is declared. The rest follows from the declaration. */
  missingIn: readonly string[];
}

const text = `['a', 'b']`;
const trials: Readonly<Record<string, Trial>> = {
  'kind of break': {
    declaredIn: 'src/reconciliation/decide/break-kind-declarations.ts',
    marker: 'breakKinds = {',
    name: 'trial_break',
    answers: {
      ...{ name: text, why: text, whatToDo: text, resolvedWhen: `'c'`, severityAtLeast: `'low'` },
      ...{ opened: `['line', 'settlement', 'statement']`, decidedByRules: `'never'` },
      ...{ precedence: '9', refund: 'null' },
    },
    missingIn: ['src/console/texts/search.ts', 'src/reconciliation/apply/break-writer.queries.ts'],
  },
  'kind of reference': {
    declaredIn: 'src/statement/expected-payments/references.ts',
    marker: 'referenceKindDeclarations = {',
    name: 'trial_reference',
    answers: {
      ...{ line: `{ column: 'trial', field: 'trialField' }`, isOnReversal: 'false' },
      ...{ isInNotes: 'false', isDeclarable: 'true', isPersonal: 'false' },
    },
    missingIn: [
      'src/console/texts/expected-payments.ts',
      'src/console/texts/search.ts',
      'src/reconciliation/breaks/break-sides.service.ts',
    ],
  },
  'type of event': {
    declaredIn: 'src/events/event-types.ts',
    marker: 'eventTypeDeclarations = {',
    name: 'trial.event',
    answers: { name: text, when: `'c'` },
    missingIn: ['src/events/event-fields.schema.ts'],
  },
  'kind of operation': {
    declaredIn: 'src/bank-contract/operation-kinds.ts',
    marker: 'operationKinds = {',
    name: 'trial_operation',
    answers: { money: `'transfer'`, counterparty: `'account'`, namesParty: 'false' },
    missingIn: [
      'src/console/texts/approvals.ts',
      'src/console/texts/break-words.ts',
      'src/console/texts/expected-payments.ts',
      'src/console/texts/payments.ts',
      'src/console/texts/search.ts',
    ],
  },
  'type of line': {
    declaredIn: 'src/bank-contract/line-types.ts',
    marker: 'lineTypes = {',
    name: 'CREDIT_TRIAL',
    answers: { name: text, isNotified: 'false', isReceived: 'true' },
    missingIn: ['src/sandbox/ledger/transaction-types.ts', 'src/sandbox/presets/presets.ts'],
  },
};

const root = join(import.meta.dirname, '..', '..');
const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config,
  ts.sys,
  root,
);
const files = Object.values(trials).flatMap(({ declaredIn, missingIn }) => [
  declaredIn,
  ...missingIn,
]);
/** The texts of the declarations on trial. */
const changed = new Map<string, string>();
let version = 0;
const service = ts.createLanguageService({
  getCompilationSettings: () => ({ ...options, noErrorTruncation: true }),
  getScriptFileNames: () => [...new Set(files)].map((path) => join(root, path)),
  getScriptVersion: (path) => (changed.has(path) ? String(version) : ''),
  getScriptSnapshot: (path) => {
    const content = changed.get(path) ?? ts.sys.readFile(path);
    return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
  },
  getCurrentDirectory: () => root,
  getDefaultLibFileName: (settings) => ts.getDefaultLibFilePath(settings),
  fileExists: (path) => ts.sys.fileExists(path),
  readFile: (path) => ts.sys.readFile(path),
  directoryExists: (path) => ts.sys.directoryExists(path),
  getDirectories: (path) => ts.sys.getDirectories(path),
});

/** Declares each kind on trial, once for each of `variants`: the answers that it leaves out. */
function declare(variants: (trial: Trial) => readonly (string | null)[]): void {
  version += 1;
  for (const trial of Object.values(trials)) {
    const path = join(root, trial.declaredIn);
    const content = readFileSync(path, 'utf8');
    expect(content).toContain(trial.marker);
    const added = variants(trial).map((without) => {
      const given = Object.entries(trial.answers).filter(([answer]) => answer !== without);
      const name = without === null ? trial.name : `${trial.name}_${without}`;
      return `'${name}': { ${given.map((answer) => answer.join(': ')).join(', ')} },`;
    });
    const text = [trial.marker, ...added].join('\n');
    changed.set(path, content.replace(trial.marker, text));
  }
}

/** Each error, after the line that it is about. */
function errorsOf(path: string): string[] {
  return service.getSemanticDiagnostics(join(root, path)).map(({ file, start, messageText }) => {
    const line = file?.text.slice(start).split('\n')[0] ?? '';
    return `${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

it('a kind on trial needs each answer of its declaration', () => {
  declare(({ answers }) => Object.keys(answers));
  for (const { declaredIn, name, answers } of Object.values(trials)) {
    const errors = errorsOf(declaredIn);
    for (const answer of Object.keys(answers)) {
      const ofAnswer = errors.filter((error) => error.startsWith(`'${name}_${answer}'`));
      expect([answer, ofAnswer.join()]).toEqual([answer, expect.stringContaining(answer)]);
    }
  }
});

it('a kind on trial is missing where it needs more than its declaration', () => {
  declare(() => [null]);
  for (const { declaredIn, name, missingIn } of Object.values(trials)) {
    expect(errorsOf(declaredIn)).toEqual([]);
    for (const path of missingIn)
      expect([path, errorsOf(path).join()]).toEqual([path, expect.stringContaining(name)]);
  }
});
