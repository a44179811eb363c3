// No word that the glossary replaces, no line that is too wide, and no name with two meanings.
import ts from 'typescript';
import { isSpec, nameParts, walk, type ProjectFile, type Rule } from './project-file.js';

/** Split, so that this file passes its own rule. */
const replacedWords = [
  '(?:un)?to' + 'ld',
  'te' + 'll(?:s|ing)?',
  '(?:mis|un)?jud' + 'g(?:e[ds]?|ing|e?ments?)',
  'ver' + 'dicts?',
  'ro' + 'oms?',
  'wo' + 'ken',
  'wa' + 'ke ?ups?',
  'waking u' + 'p',
  'wa' + 'kes?',
  'look' + 'alikes?',
  'ke' + 'pt answers?',
  'by ' + 'hand',
  '(?:given|gone|came|goes) ' + 'back',
  'ho' + 'les?',
  'the ho' + 'use',
  'sur' + 'er',
];
const replacedWord = new RegExp(`(?<![a-z])(?:${replacedWords.join('|')})(?![a-z])`, 'i');

const textFile = /\.(tsx?|mjs|js|json|md|ya?ml|prisma|sql|sh|css|example)$|(^|\/)(Dockerfile|run)$/;

/** `camelCase`, `snake_case` and `kebab-case` as separate words. */
function wordsOf(text: string): string {
  return text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' ');
}

/** Identifiers, file names, comments, messages, tests and documents. */
export const wordsAreOfTheGlossary: Rule = (files) =>
  files
    .filter(({ path }) => textFile.test(path) && path !== 'package-lock.json')
    .flatMap((file) => {
      const inPath = replacedWord.exec(wordsOf(file.path))?.[0];
      const inLines = file.text.split('\n').flatMap((line, index) => {
        const word = replacedWord.exec(wordsOf(line))?.[0];
        return word ? [`${file.path}:${index + 1} "${word}" is replaced by the glossary`] : [];
      });
      return inPath
        ? [`${file.path} is named by "${inPath}", which the glossary replaces`, ...inLines]
        : inLines;
    });

const maxColumns = 100;
const sqlKeyword =
  /\b(SELECT|FROM|WHERE|JOIN|INSERT|UPDATE|DELETE|VALUES|SET|AND|ORDER BY|GROUP BY|CASE|WHEN|CREATE)\b/;

/** The formatter keeps code within the width. It does not wrap comments and SQL. */
export const commentsAndSqlFitTheWidth: Rule = (files) =>
  files
    .filter(({ path }) => /\.(tsx?|mjs|js|sql|prisma)$/.test(path))
    .flatMap((file) => {
      const checked = linesToCheck(file);
      return file.text.split('\n').flatMap((line, index) => {
        const isTooWide = [...line].length > maxColumns && checked(index, line);
        return isTooWide ? [`${file.path}:${index + 1} is wider than ${maxColumns} columns`] : [];
      });
    });

/** All lines of SQL files, the comments of Prisma schemas, comments and SQL in code. */
function linesToCheck(file: ProjectFile): (index: number, line: string) => boolean {
  if (file.path.endsWith('.sql')) return () => true;
  if (file.path.endsWith('.prisma')) return (_, line) => /^\s*\/\//.test(line);
  const lines = commentAndSqlLines(file);
  return (index) => lines.has(index);
}

/** Line indexes of comments, and of template literals that contain SQL. */
function commentAndSqlLines(file: ProjectFile): Set<number> {
  const lines = new Set<number>();
  const add = (from: number, to: number) => {
    const first = file.ast.getLineAndCharacterOfPosition(from).line;
    const last = file.ast.getLineAndCharacterOfPosition(to).line;
    for (let line = first; line <= last; line += 1) lines.add(line);
  };
  const templates: ts.Node[] = [];
  walk(file.ast, (node) => {
    const isTemplate = ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node);
    if (isTemplate) templates.push(node);
    if (isTemplate && sqlKeyword.test(node.getText(file.ast)))
      add(node.getStart(file.ast), node.end);
  });
  const isInTemplate = (index: number) =>
    templates.some((node) => node.getStart(file.ast) < index && index < node.end);
  const comments = /(?:^|[ \t;,(){}[\]])(?:\/\/ .*|\/\*[\s\S]*?\*\/)/gm;
  for (const match of file.text.matchAll(comments))
    if (!isInTemplate(match.index)) add(match.index, match.index + match[0].length - 1);
  return lines;
}

/**
 * A name has one meaning, so two files must not export the same name. Whoever installs a package
 * knows its names alone.
 */
export const exportedNamesAreUnique: Rule = (files) => {
  const places = new Map<string, string[]>();
  for (const file of files.filter(isChecked))
    for (const name of exportedNames(file)) {
      const inPackage = `${packageOf(file)} ${name}`;
      places.set(inPackage, [...(places.get(inPackage) ?? []), file.path]);
    }
  return [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name.split(' ')[1]} is exported by ${paths.join(', ')}`);
};

const packageOf = ({ path }: ProjectFile): string => /^packages\/[^/]+/.exec(path)?.[0] ?? '';

/** Each goal of a bench exports its `bench`. */
function isChecked(file: ProjectFile): boolean {
  return /^(src|packages|test|bench(?!\/goals))\/.*\.tsx?$/.test(file.path) && !isSpec(file);
}

function exportedNames({ ast }: ProjectFile): Set<string> {
  const names = new Set<string>();
  for (const statement of ast.statements) {
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (!isExported) continue;
    if (ts.isVariableStatement(statement))
      for (const { name } of statement.declarationList.declarations)
        if (ts.isIdentifier(name)) names.add(name.text);
    const declared = statement as ts.Statement & { name?: ts.Identifier };
    if (declared.name) names.add(declared.name.text);
  }
  return names;
}

const minFileLines = 20;

/** A smaller file belongs in a neighbour that changes with it. A Nest module may stand alone. */
export const filesAreNotTiny: Rule = (files) =>
  files
    .filter((file) => /^(src|packages)\/.*\.tsx?$/.test(file.path) && !isSpec(file))
    .filter(
      ({ path }) => !['module', 'controller', 'processor'].includes(nameParts(path).role ?? ''),
    )
    .flatMap((file) => {
      const lines = file.text.trimEnd().split('\n').length;
      return lines < minFileLines ? [file.violation(0, `has only ${lines} lines`)] : [];
    });
