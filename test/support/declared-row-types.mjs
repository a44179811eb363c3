// Reads from the sources which rows each `$queryRaw` declares, and the text that the SQL of it, and
// of each `$executeRaw`, has in every call. row-types.ts compares the rows of the database with it.
import { join } from 'node:path';
import ts from 'typescript';
import { projectFolder } from '../../scripts/prepare.mjs';

/** Types in JSON may be recursive. Deeper values are not compared. */
const maxDepth = 6;

/** The queries of each file. */
export function declaredQueries(paths) {
  const config = ts.readConfigFile(join(projectFolder, 'tsconfig.json'), ts.sys.readFile).config;
  const { options } = ts.parseJsonConfigFileContent(
    { ...config, files: paths },
    ts.sys,
    projectFolder,
  );
  const program = ts.createProgram(
    paths.map((path) => join(projectFolder, path)),
    { ...options, types: ['node'] },
  );
  const checker = program.getTypeChecker();
  const queriesOf = (path) => {
    const file = program.getSourceFile(join(projectFolder, path));
    const queries = [];
    const visit = (node) => {
      if (isQuery(node)) {
        const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
        queries.push({ at: `${path}:${line + 1}`, ...describeQuery(checker, node) });
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
    return queries;
  };
  return Object.fromEntries(paths.map((path) => [path, queriesOf(path)]));
}

function isQuery(node) {
  return (
    ts.isTaggedTemplateExpression(node) &&
    ts.isPropertyAccessExpression(node.tag) &&
    ['$queryRaw', '$executeRaw'].includes(node.tag.name.text) &&
    longestTextOf(node.template) !== ''
  );
}

function describeQuery(checker, node) {
  return {
    head: (node.template.head ?? node.template).text,
    longest: longestTextOf(node.template),
    pattern: patternOf(checker, node.template),
    columns: columnsOf(checker, node),
  };
}

function columnsOf(checker, node) {
  if (node.tag.name.text === '$executeRaw') return null;
  const rows = checker.getAwaitedType(checker.getTypeAtLocation(node));
  const row = checker.isArrayType(rows) ? checker.getTypeArguments(rows)[0] : rows;
  return row.flags & ts.TypeFlags.Unknown ? null : propertiesOf(checker, row, 0);
}

/** The longest text between two values or fragments. */
function longestTextOf({ text, head, templateSpans = [] }) {
  const texts = [text ?? head.text, ...templateSpans.map(({ literal }) => literal.text)];
  return texts.reduce((longest, one) => (one.length > longest.length ? one : longest));
}

/** A regular expression of the statement's text: `$1` for a value, any text for a fragment. */
function patternOf(checker, template) {
  const quote = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  if (ts.isNoSubstitutionTemplateLiteral(template)) return `^${quote(template.text)}$`;
  const parts = template.templateSpans.map(({ expression, literal }) => {
    const type = checker.getTypeAtLocation(expression);
    const isFragment = alternativesOf(type).some(({ symbol }) => symbol?.name === 'Sql');
    return (isFragment ? '.*?' : '\\$\\d+') + quote(literal.text);
  });
  return `^${quote(template.head.text)}${parts.join('')}$`;
}

const alternativesOf = (type) => (type.isUnion() ? type.types : [type]);

function propertiesOf(checker, type, depth) {
  return Object.fromEntries(
    checker.getPropertiesOfType(type).map((property) => {
      const alternatives = describe(checker, checker.getTypeOfSymbol(property), depth + 1);
      const isOptional = property.flags & ts.SymbolFlags.Optional;
      return [property.name, isOptional ? [...alternatives, { kind: 'undefined' }] : alternatives];
    }),
  );
}

/** The alternatives of a type. Strings of a union are the values of one alternative. */
function describe(checker, type, depth) {
  const alternatives = alternativesOf(type).map((one) => describeOne(checker, one, depth));
  const texts = alternatives.filter(({ values }) => values);
  const others = alternatives.filter(({ values }) => !values);
  const kinds = new Set();
  const distinct = others.filter(
    ({ kind }) => kind === 'object' || kind === 'array' || (!kinds.has(kind) && kinds.add(kind)),
  );
  if (texts.length === 0) return distinct;
  return [{ kind: 'string', values: texts.flatMap(({ values }) => values).sort() }, ...distinct];
}

const flag = ts.TypeFlags;
const kindsByFlag = [
  [flag.Null, 'null'],
  [flag.Undefined, 'undefined'],
  [flag.BigIntLike, 'bigint'],
  [flag.NumberLike, 'number'],
  [flag.StringLike, 'string'],
  [flag.BooleanLike, 'boolean'],
];
const classes = new Set(['Date', 'Decimal', 'Uint8Array', 'Buffer']);

function describeOne(checker, type, depth) {
  if (type.isStringLiteral()) return { kind: 'string', values: [type.value] };
  const primitive = kindsByFlag.find(([mask]) => type.flags & mask)?.[1];
  if (primitive) return { kind: primitive };
  // A branded type: `string & { … }`.
  const branded = type.isIntersection() && type.types.find(({ flags }) => flags & flag.Primitive);
  if (branded) return describeOne(checker, branded, depth);
  if (classes.has(type.symbol?.name)) return { kind: type.symbol.name };
  if (!(type.flags & (flag.Object | flag.Intersection)) || depth > maxDepth) return { kind: 'any' };
  if (checker.isArrayType(type) || checker.isTupleType(type)) {
    const element = checker.getIndexTypeOfType(type, ts.IndexKind.Number);
    return { kind: 'array', element: describe(checker, element, depth + 1) };
  }
  return { kind: 'object', properties: propertiesOf(checker, type, depth) };
}
