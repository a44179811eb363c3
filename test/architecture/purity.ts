// A file without a role in its name is pure: its results depend on its arguments alone. And no
// other file of the service reads a clock that another process could contradict.
import ts from 'typescript';
import {
  importsOf,
  nameParts,
  moduleOf,
  sourcesOf,
  violationsIn,
  type Import,
  type ProjectFile,
  type Rule,
} from './project-file.js';

/** The pure exports of impure packages. A pure file may import these names and no others. */
const pureParts: ReadonlyMap<string, readonly string[]> = new Map([
  ['node:net', ['BlockList', 'isIP', 'isIPv4', 'isIPv6']],
  [
    'node:crypto',
    ['createHash', 'createHmac', 'createPublicKey', 'hash', 'timingSafeEqual', 'verify'],
  ],
  ['node:util', ['isDeepStrictEqual']],
  ['node:buffer', ['Buffer', 'isUtf8']],
  ['node:zlib', ['crc32', 'deflateRawSync']],
  ['uuid', ['v5', 'validate', 'version', 'parse', 'stringify']],
]);

const impurePackages =
  /^(node:.*|uuid|axios|pg|bullmq|ioredis|pino|fastify|@nestjs\/.*|@prisma\/.*|(?:fs|net|http|https|dns|child_process|crypto)(?:\/.*)?)$/;
const impureRoles = ['service', 'queries', 'controller', 'module', 'guard', 'filter', 'processor'];

/** Files without a role, but those of `platform` and `app`, which do IO, and `cli.ts`. */
function pureFilesOf(files: readonly ProjectFile[]): ProjectFile[] {
  return sourcesOf(files).filter(
    ({ path }) =>
      path.split('/').length > 2 &&
      !['app', 'platform'].includes(moduleOf(path)) &&
      nameParts(path).role === null,
  );
}

export const unsuffixedFilesImportNothingImpure: Rule = (files) =>
  pureFilesOf(files).flatMap((file) =>
    importsOf(file).flatMap((one) => {
      const reason = impureImport(one);
      return reason ? [file.violation(one.node, reason)] : [];
    }),
  );

/** Type imports are ignored: only an imported value can read, write or wait. */
function impureImport({ specifier, target, isTypeOnly, names }: Import): string | undefined {
  if (isTypeOnly) return undefined;
  if (target !== null) {
    const isImpure =
      /^src\/generated\/(?!console\/)/.test(target) ||
      impureRoles.includes(nameParts(target).role ?? '');
    return isImpure ? `a pure file imports values of ${target}` : undefined;
  }
  if (!impurePackages.test(specifier)) return undefined;
  const pure = pureParts.get(specifier) ?? [];
  const refused = names.filter(
    ({ imported, isTypeOnly: isType }) => !isType && !pure.includes(imported),
  );
  if (names.length > 0 && refused.length === 0) return undefined;
  return `a pure file imports ${refused.map(({ imported }) => imported).join(', ')} of ${specifier}`;
}

const impureCalls =
  /^(Date\.now|Math\.random|performance\.now|process\.\w+|crypto\.\w+|console\.\w+|setTimeout|setInterval|setImmediate|queueMicrotask|fetch|Date|AbortSignal\.timeout|randomUUID|randomBytes)$/;

export const unsuffixedFilesHaveNoClockRandomnessOrIo: Rule = (files) =>
  violationsIn(pureFilesOf(files), (node, file) => {
    if (ts.isNewExpression(node) && node.expression.getText(file.ast) === 'Date')
      return node.arguments?.length ? undefined : 'a pure file reads the clock (new Date())';
    if (!ts.isCallExpression(node)) return undefined;
    const called = node.expression.getText(file.ast).replace(/^globalThis\./, '');
    return impureCalls.test(called) ? `a pure file calls ${called}` : undefined;
  });

/** The service's files that may read the clock of the process: it is for time limits and logs. */
function timedFilesOf(files: readonly ProjectFile[]): ProjectFile[] {
  return sourcesOf(files).filter(
    ({ path }) =>
      path.split('/').length > 2 && !['app', 'platform', 'sandbox'].includes(moduleOf(path)),
  );
}

export const noModuleReadsTheWallClock: Rule = (files) =>
  violationsIn(timedFilesOf(files), (node, file) => {
    const isRead =
      (ts.isNewExpression(node) &&
        node.expression.getText(file.ast) === 'Date' &&
        !node.arguments?.length) ||
      (ts.isCallExpression(node) && node.expression.getText(file.ast) === 'Date.now');
    return isRead
      ? "reads this process's clock: use PostgreSQL's, or performance.now()"
      : undefined;
  });

/** An id that ascends by this process's clock. */
export const idsAscendByOneClock: Rule = (files) =>
  timedFilesOf(files).flatMap((file) =>
    importsOf(file).flatMap(({ node, specifier, names }) =>
      specifier === 'uuid' && names.some(({ imported }) => imported === 'v7')
        ? [file.violation(node, 'imports v7 of uuid: use newId() of platform/ids.ts')]
        : [],
    ),
  );

const transactionStart =
  /(^|[^.\w])(now\(\)|current_timestamp|transaction_timestamp\(\)|current_date)/i;

/** `now()` is the start of a transaction, which says nothing about the order of commits. */
export const sqlReadsTheClockOfTheMoment: Rule = (files) =>
  violationsIn(
    timedFilesOf(files).filter(({ path }) => nameParts(path).role === 'queries'),
    (node) =>
      (ts.isTemplateLiteralToken(node) || ts.isStringLiteral(node)) &&
      transactionStart.test(node.text)
        ? 'reads the start of the transaction: use clock_timestamp()'
        : undefined,
  );
