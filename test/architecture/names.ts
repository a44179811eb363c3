// File names, file sizes and function sizes.
import ts from 'typescript';
import { isSpec, productOf, violationsIn, type ProjectFile, type Rule } from './project-file.js';

const roles = [
  'module',
  'controller',
  'processor',
  'service',
  'queries',
  'schema',
  'guard',
  'decorator',
  'filter',
];
const fileName = new RegExp(
  `^[a-z0-9]+(-[a-z0-9]+)*(\\.(${roles.join('|')}))?(\\.spec|\\.e2e-spec|\\.d)?\\.(ts|tsx|mjs)$`,
);
const emptyWords = 'utils?|helpers?|common|shared|misc|base|manager|data|info';
/** The whole name, or its last word: `charge-utils.ts` says no more than `utils.ts`. */
const emptyName = new RegExp(`(^|-)(${emptyWords})$`);
/** A version or `old`, which belong in the repository's history, or a prefix for "interface". */
const historyName = /(^|[-_])(old|v\d+)$|^(old|i)-/;

function codeOf(files: readonly ProjectFile[]): ProjectFile[] {
  return files.filter(({ path }) =>
    /^(src|packages|examples|test|bench|scripts)\/.*\.(tsx?|mjs)$/.test(path),
  );
}

export const filesAreNamedByTheirRole: Rule = (files) =>
  codeOf(files)
    .filter(({ path }) => !fileName.test(path.split('/').at(-1) ?? ''))
    .map((file) => file.violation(0, 'is not kebab-case with a role of the closed list'));

export const namesSayWhatIsInside: Rule = (files) =>
  codeOf(files).flatMap((file) => {
    const words = file.path.split('/').slice(1);
    const hollow = words
      .map((word) => word.split('.')[0] ?? '')
      .find((word) => emptyName.test(word) || historyName.test(word));
    return hollow === undefined ? [] : [file.violation(0, `"${hollow}" says nothing`)];
  });

export const typesHaveNoEmptyPrefix: Rule = (files) =>
  violationsIn(productOf(files), (node) => {
    const isNamed =
      ts.isInterfaceDeclaration(node) ||
      ts.isTypeAliasDeclaration(node) ||
      ts.isClassDeclaration(node);
    const name = isNamed ? (node.name?.text ?? '') : '';
    return /^(I[A-Z][a-z]|Base[A-Z])/.test(name) ? `${name} has an empty prefix` : undefined;
  });

export const noUnfinishedWork: Rule = (files) =>
  productOf(files).flatMap((file) =>
    [
      ...file.text.matchAll(
        /\b(?:TODO|FIXME|XXX|HACK)\b|\b(?:stub(?:bed)?|(?:not |un)implemented)\b/gi,
      ),
    ]
      .filter(([word]) => /^[A-Z]+$/.test(word) || /implemented|stub/i.test(word))
      .map(({ 0: word, index }) => file.violation(index, `"${word}"`)),
  );

const maxFileLines = 500;
const maxFunctionLines = 70;

export const filesAreShort: Rule = (files) =>
  codeOf(files).flatMap((file) => {
    const lines = file.text.trimEnd().split('\n').length;
    return lines > maxFileLines ? [file.violation(0, `has ${lines} lines`)] : [];
  });

/** Specs are not checked: one `describe` callback holds many tests. */
export const functionsAreShort: Rule = (files) =>
  violationsIn(
    codeOf(files).filter((file) => !isSpec(file)),
    (node, file) => {
      if (!ts.isFunctionLike(node)) return undefined;
      const [from, to] = [node.getStart(file.ast), node.end].map(
        (position) => file.ast.getLineAndCharacterOfPosition(position).line,
      ) as [number, number];
      const lines = to - from + 1;
      return lines > maxFunctionLines ? `a function has ${lines} lines` : undefined;
    },
  );
