// Who writes which table, and where SQL may stand.
import ts from 'typescript';
import {
  isInSandbox,
  nameParts,
  foldersOf,
  sourcesOf,
  violationsIn,
  walk,
  type ProjectFile,
  type Rule,
} from './project-file.js';

interface Table {
  name: string;
  /** The property of the Prisma client: `ExpectedPayment` → `expectedPayment`. */
  client: string;
  owner: string;
  /** Whether its rows belong to a bank account. */
  isOfAccount: boolean;
}

/** The service's tables; `prisma/service/<folder>.prisma` names the folder that owns them. */
function tablesOf(files: readonly ProjectFile[]): Table[] {
  return files.flatMap(({ path, text }) => {
    const owner = /^prisma\/service\/([\w-]+)\.prisma$/.exec(path)?.[1];
    if (!owner) return [];
    return [...text.matchAll(/^model (\w+) \{(.*?)^\}/gms)].map(([, model = '', body = '']) => ({
      name: /@@map\("(\w+)"\)/.exec(body)?.[1] ?? model,
      client: model.charAt(0).toLowerCase() + model.slice(1),
      owner,
      isOfAccount: body.includes('@map("account_id")'),
    }));
  });
}

export const everyTableHasAModule: Rule = (files) => {
  const folders = new Set(sourcesOf(files).flatMap(({ path }) => foldersOf(path)));
  return tablesOf(files)
    .filter(({ owner }) => !folders.has(owner))
    .map(({ name, owner }) => `prisma/service/${owner}.prisma ${name}: no folder has its name`);
};

const clientWrite =
  /\.\s*(\w+)\s*\.\s*(?:create|createMany|createManyAndReturn|update|updateMany|updateManyAndReturn|upsert|delete|deleteMany)$/;
const sqlWrite =
  /\b(?:INSERT\s+INTO|UPDATE(?:\s+ONLY)?|DELETE\s+FROM(?:\s+ONLY)?|MERGE\s+INTO|TRUNCATE(?:\s+TABLE)?|COPY)\s+(?:"?\w+"?\.)?"?(\w+)"?/g;

export const onlyTheOwnerWritesATable: Rule = (files) => {
  const tables = tablesOf(files);
  const service = sourcesOf(files).filter(({ path }) => !isInSandbox(path));
  return violationsIn(service, (node, file) => {
    const written = writtenBy(node, file, tables);
    const foreign = written.find(({ owner }) => !foldersOf(file.path).includes(owner));
    return foreign && `writes ${foreign.name}, which is ${foreign.owner}'s`;
  });
};

function writtenBy(node: ts.Node, file: ProjectFile, tables: Table[]): Table[] {
  if (ts.isCallExpression(node)) {
    const property = clientWrite.exec(node.expression.getText(file.ast))?.[1];
    return tables.filter(({ client }) => client === property);
  }
  const sql = textOf(node, file);
  if (sql === undefined) return [];
  // Outside queries, lower case is prose: "could not update event".
  const isQueries = nameParts(file.path).role === 'queries';
  const names = [...(isQueries ? sql.toUpperCase() : sql).matchAll(sqlWrite)].map(([, name]) =>
    name?.toLowerCase(),
  );
  return tables.filter(({ name }) => names.includes(name));
}

/** The text of a string or template, with its `${…}`. */
function textOf(node: ts.Node, file: ProjectFile): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  return ts.isTemplateExpression(node) ? node.getText(file.ast).slice(1, -1) : undefined;
}

const sqlOutsideQueries: ReadonlyMap<string, string> = new Map([
  [
    'src/platform/postgres/database.service.ts',
    'owns the pool and checks that the database responds',
  ],
  ['src/platform/postgres/migrations.ts', "writes Prisma's migration history"],
  ['src/platform/embedded-postgres/embedded-postgres.ts', 'creates databases before a pool exists'],
  ['src/platform/queue/queue-connection.ts', "checks the queue's own schema, which no module owns"],
  ['src/platform/postgres/prisma-adapter.ts', 'begins transactions with their limits'],
  ['src/platform/postgres/statement-spans.ts', 'times the statements of a pool'],
  ['src/platform/postgres/transaction-connection.ts', 'sends the statements of a transaction'],
  ['src/sandbox/sandbox-database.service.ts', "owns the sandbox's pool and its transactions"],
]);

const sqlText =
  /^\s*(SELECT\s|INSERT\s+INTO\s|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s|WITH\s+\w+\s+AS\s|MERGE\s+INTO\s|TRUNCATE\s|COPY\s+\w+\s|(CREATE|ALTER|DROP)\s+(TABLE|INDEX|SCHEMA|DATABASE|ROLE)\s|LOCK\s+TABLE\s|(BEGIN|COMMIT|ROLLBACK)\b|SET\s+LOCAL\s|(UN)?LISTEN\s|NOTIFY\s)/;
const rawQueries = ['$queryRaw', '$executeRaw', '$queryRawUnsafe', '$executeRawUnsafe'];
const connection = /(^|\.)(pool|client|connection|database|db|tx|prisma)$/i;

export const sqlStandsInQueriesOnly: Rule = (files) =>
  violationsIn(
    sourcesOf(files).filter(
      ({ path }) => nameParts(path).role !== 'queries' && !sqlOutsideQueries.has(path),
    ),
    (node, file) => {
      if (ts.isPropertyAccessExpression(node)) {
        if (rawQueries.includes(node.name.text)) return `calls ${node.name.text}`;
        const receiver = node.expression.getText(file.ast);
        return node.name.text === 'query' && connection.test(receiver)
          ? `calls ${receiver}.query`
          : undefined;
      }
      return sqlText.test(textOf(node, file) ?? '') ? 'contains SQL' : undefined;
    },
  );

/**
 * A query states its row type, or returns its rows from a function that does. Tests compare that
 * type with the rows of the database (test/support/row-types.ts).
 */
export const queriesStateTheirRows: Rule = (files) =>
  violationsIn(sourcesOf(files), (node) => {
    if (!ts.isPropertyAccessExpression(node) || node.name.text !== '$queryRaw') return undefined;
    const query = node.parent;
    if (!ts.isTaggedTemplateExpression(query)) return 'calls $queryRaw without a template';
    if (/^`\$\{[^}]*\}`$/.test(query.template.getText()))
      return 'has no text of its own, by which tests find its type';
    const reader = ts.isAwaitExpression(query.parent) ? query.parent.parent : query.parent;
    if (!query.typeArguments && ts.isExpressionStatement(reader)) return undefined;
    const enclosing = ts.isReturnStatement(reader) && ts.findAncestor(node, ts.isFunctionLike);
    const rows = query.typeArguments?.[0] ?? (enclosing ? enclosing.type : undefined);
    if (!rows) return 'reads rows without stating their type';
    let hasAny = false;
    walk(rows, ({ kind }) => (hasAny ||= kind === ts.SyntaxKind.AnyKeyword));
    return hasAny ? 'reads rows of type any' : undefined;
  });

/** Reports exceptions that are no longer needed. */
export const sqlExceptionsAreNeeded: Rule = (files) => {
  const sources = new Map(sourcesOf(files).map((file) => [file.path, file]));
  return [...sqlOutsideQueries.keys()]
    .filter((path) => !/\.query\b|\$queryRaw|\$executeRaw/.test(sources.get(path)?.text ?? ''))
    .map((path) => `${path} has no SQL: remove the exception`);
};

/**
 * A transfer between two bank accounts of one holder is looked up across accounts: a search in each
 * account would cost the number of accounts for each debit.
 */
const joinAcrossAccounts = '${isOwnCredit}';
const join =
  /\bJOIN\s+"?(\w+)"?[^`;]*?(?=\b(?:LEFT|CROSS|JOIN|WHERE|ORDER|GROUP|UNION|RETURNING|SET|FOR|LIMIT)\b|[`;])/g;

/** So that a table can be split by account: a join then stays within one part. */
export const joinsNameTheAccount: Rule = (files) => {
  const ofAccounts = new Set(
    tablesOf(files).flatMap(({ name, isOfAccount }) => (isOfAccount ? [name] : [])),
  );
  return sourcesOf(files)
    .filter(({ path }) => nameParts(path).role === 'queries' && !isInSandbox(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(join)]
        .filter(([condition, table = '']) => {
          if (!ofAccounts.has(table) || condition.includes(joinAcrossAccounts)) return false;
          // A WITH query may have the name of a table.
          const isQuery = new RegExp(`\\b${table} AS (NOT )?(MATERIALIZED )?\\(`).test(text);
          return !isQuery && !/\baccount_?id\b/i.test(condition);
        })
        .map(({ index, 1: table }) => {
          const line = text.slice(0, index).split('\n').length;
          return `${path}:${line} joins ${table} without its account`;
        }),
    );
};
