// Which module may import which. Imports go down the layers; the sandbox is a separate application.
import ts from 'typescript';
import {
  importsOf,
  isInSandbox,
  nameParts,
  productOf,
  moduleOf,
  sourcesOf,
  violationsIn,
  walk,
  type Import,
  type ProjectFile,
  type Rule,
} from './project-file.js';

/** From the top down, a module each; the sandbox has no layer. */
const layers: readonly string[] = [
  'cli.ts',
  'app',
  'console',
  'reporting',
  'reconciliation',
  'webhooks',
  'outbound',
  'statement',
  'events',
  'bank',
  'access',
  'platform',
  'generated',
  'bank-contract',
  'brazil',
];

const sandboxMayImport = ['bank-contract', 'brazil', 'platform'];

function layerOf(path: string): number {
  return layers.indexOf(moduleOf(path));
}

/** Imports between two files of src/ that belong to different modules. */
function crossings(files: readonly ProjectFile[]) {
  return sourcesOf(files).flatMap((file) =>
    importsOf(file)
      .filter(({ target }) => target !== null && moduleOf(target) !== moduleOf(file.path))
      .map((one) => ({ file, one, target: one.target as string })),
  );
}

export const everyModuleHasALayer: Rule = (files) =>
  sourcesOf(files)
    .filter(({ path }) => !isInSandbox(path) && layerOf(path) === -1)
    .map((file) => file.violation(0, `${moduleOf(file.path)} has no layer`));

export const importsGoDown: Rule = (files) =>
  crossings(files).flatMap(({ file, one, target }) => {
    // The sandbox has its own rules below.
    if (isInSandbox(file.path) || isInSandbox(target)) return [];
    const isBelow = layerOf(target) > layerOf(file.path);
    if (target.startsWith('src/') && isBelow) return [];
    return [file.violation(one.node, `imports ${target}, which is not below it`)];
  });

/** The jobs of the service. */
const jobCatalogue = 'src/platform/queue/queues.ts';

/** The files from which the database of the service is reached: the sandbox has one of its own. */
function filesOfTheService(files: readonly ProjectFile[]): ReadonlySet<string> {
  const sources = sourcesOf(files);
  const found = new Set([jobCatalogue]);
  for (let isGrowing = true; isGrowing;) {
    const before = found.size;
    for (const file of sources) {
      const targets = importsOf(file).map(({ target }) => target ?? '');
      const isOfService = targets.some(
        (target) => target.startsWith('src/generated/service/') || found.has(target),
      );
      if (isOfService) found.add(file.path);
    }
    isGrowing = found.size > before;
  }
  return found;
}

export const sandboxImportsOnlyWhatBothApplicationsShare: Rule = (files) => {
  const ofService = filesOfTheService(files);
  return crossings(files).flatMap(({ file, one, target }) => {
    if (!isInSandbox(file.path)) return [];
    const isShared =
      target.startsWith('src/') &&
      sandboxMayImport.includes(moduleOf(target)) &&
      !ofService.has(target);
    if (isShared || target.startsWith('src/generated/sandbox/')) return [];
    return [file.violation(one.node, `the sandbox imports ${target}`)];
  });
};

/** Reads the roles and starts their applications. */
const starter = 'src/app/start.ts';

export const onlyTheStarterImportsTheSandbox: Rule = (files) =>
  crossings(files).flatMap(({ file, one, target }) => {
    const isOfSandbox = isInSandbox(target) || target.startsWith('src/generated/sandbox/');
    if (!isOfSandbox || isInSandbox(file.path) || file.path === starter) return [];
    return [file.violation(one.node, `imports ${target}: the bank is reached over HTTP alone`)];
  });

/** What is installed without the service, and what it may import. */
const standsAlone = [
  { folder: 'packages/client/', name: 'client', needs: /^standardwebhooks$/ },
  { folder: 'packages/verifier/', name: 'verifier', needs: /^node:/ },
];

/** Whoever installs one of them has nothing of the service. */
export const packagesStandAlone: Rule = (files) =>
  standsAlone.flatMap(({ folder, name, needs }) =>
    productOf(files)
      .filter(({ path }) => path.startsWith(folder))
      .flatMap((file) =>
        importsOf(file)
          .filter(({ target, specifier }) =>
            target === null ? !needs.test(specifier) : !target.startsWith(folder),
          )
          .map(({ node, specifier }) => file.violation(node, `the ${name} imports ${specifier}`)),
      ),
  );

/** Type-only imports count too: a cycle of types today is a cycle of values after the next edit. */
export const importsMakeNoCycle: Rule = (files) => {
  const sources = new Map(productOf(files).map((file) => [file.path, file]));
  const targetsOf = (path: string) =>
    importsOf(sources.get(path) as ProjectFile).flatMap(({ target }) =>
      [target ?? '', `${target}x`].filter((one) => sources.has(one)),
    );
  const cycles: string[] = [];
  const finished = new Set<string>();
  const visit = (path: string, ancestors: string[]): void => {
    const start = ancestors.indexOf(path);
    if (start !== -1) cycles.push([...ancestors.slice(start), path].join(' → '));
    if (start !== -1 || finished.has(path)) return;
    for (const target of targetsOf(path)) visit(target, [...ancestors, path]);
    finished.add(path);
  };
  for (const path of sources.keys()) visit(path, []);
  return cycles;
};

/** `src/reconciliation/rules/rule.ts` → `src/reconciliation/rules`. */
const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

/**
 * The folders of a module, its root among them, import each other one way only. A `.module.ts`
 * wires what stands above it, and is left out.
 */
export const foldersOfAModuleMakeNoCycle: Rule = (files) => {
  const edges = sourcesOf(files)
    .filter(({ path }) => nameParts(path).role !== 'module')
    .flatMap((file) =>
      importsOf(file).flatMap(({ target, node }) => {
        if (target === null || moduleOf(target) !== moduleOf(file.path)) return [];
        const [from, to] = [folderOf(file.path), folderOf(target)];
        return from === to || to === 'src' ? [] : [{ file, node, from, to }];
      }),
    );
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return edges.some((edge) => edge.from === from && reaches(edge.to, to, seen));
  };
  return edges
    .filter(({ from, to }) => reaches(to, from))
    .map(({ file, node, to }) => file.violation(node, `imports ${to}, which imports its folder`));
};

export const noForwardRef: Rule = (files) =>
  violationsIn(sourcesOf(files), (node) =>
    ts.isIdentifier(node) && node.text === 'forwardRef'
      ? 'forwardRef hides an import cycle'
      : undefined,
  );

/** Nest injects by emitted metadata, where a class imported as a type is `Object`. */
export const injectedClassesAreImportedAsValues: Rule = (files) => {
  const classes = new Set(sourcesOf(files).flatMap(classesOf));
  return sourcesOf(files).flatMap((file) => {
    const asTypes = new Map<string, string>();
    for (const { target, names } of importsOf(file))
      for (const { imported, local, isTypeOnly } of names)
        if (isTypeOnly) asTypes.set(local, `${target}#${imported}`);
    return violationsIn([file], (node) => {
      if (!ts.isParameter(node) || !isInjected(node) || !node.type) return undefined;
      const name = node.type.getText(file.ast);
      return classes.has(asTypes.get(name) ?? '')
        ? `${name} is injected and imported as a type`
        : undefined;
    });
  });
};

function classesOf(file: ProjectFile): string[] {
  const names: string[] = [];
  walk(file.ast, (node) => {
    if (ts.isClassDeclaration(node) && node.name) names.push(`${file.path}#${node.name.text}`);
  });
  return names;
}

function isInjected(parameter: ts.ParameterDeclaration): boolean {
  const { parent } = parameter;
  if (!ts.isConstructorDeclaration(parent)) return false;
  const isDecorated = (ts.getDecorators(parent.parent as ts.ClassDeclaration) ?? []).length > 0;
  return isDecorated && (ts.getDecorators(parameter) ?? []).length === 0;
}

export const noBarrels: Rule = (files) =>
  sourcesOf(files).flatMap((file) => [
    ...(nameParts(file.path).stem === 'index' ? [file.violation(0, 'is a barrel')] : []),
    ...violationsIn([file], (node) =>
      ts.isExportDeclaration(node) && node.moduleSpecifier && !node.exportClause
        ? 're-exports all of another file'
        : undefined,
    ),
  ]);

/** A rule that allows imports of these packages only in files that `isAllowed` accepts. */
function packageStaysIn(
  isPackage: (specifier: string) => boolean,
  isAllowed: (path: string) => boolean,
): Rule {
  return (files) =>
    sourcesOf(files)
      .filter(({ path }) => !isAllowed(path))
      .flatMap((file) =>
        importsOf(file)
          .filter(({ specifier }) => isPackage(specifier))
          .map((one: Import) => file.violation(one.node, `imports ${one.specifier}`)),
      );
}

export const axiosStaysInBankAndEvents = packageStaysIn(
  (specifier) => specifier === 'axios',
  (path) => ['bank', 'events'].includes(moduleOf(path)),
);

/** BullMQ itself: in processors and in platform/queue. */
export const bullmqStaysInPlatformAndProcessors = packageStaysIn(
  (specifier) => /^bullmq(\/|$)/.test(specifier),
  (path) => path.startsWith('src/platform/queue/') || nameParts(path).role === 'processor',
);

/** What Nest makes of it: where queues are registered, injected and worked. */
export const queuesAreUsedThroughNest = packageStaysIn(
  (specifier) => /^@nestjs\/bullmq(\/|$)/.test(specifier),
  (path) =>
    path.startsWith('src/platform/queue/') ||
    (!isInSandbox(path) &&
      ['module', 'service', 'controller', 'processor'].includes(nameParts(path).role ?? '')),
);

/** A plain `@Cron` or `@Interval` would run in every role. */
export const timersAreDeclaredByEvery: Rule = (files) =>
  sourcesOf(files)
    .filter(({ path }) => path !== 'src/platform/queue/timers.ts')
    .flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => specifier === '@nestjs/schedule')
        .flatMap(({ node, names }) =>
          names
            .filter(({ imported }) => imported !== 'ScheduleModule')
            .map(({ imported }) => file.violation(node, `imports ${imported}: declare by @Every`)),
        ),
    );

export const metricsAreDeclaredThroughPlatform = packageStaysIn(
  (specifier) => specifier === 'prom-client',
  (path) =>
    ['src/platform/metrics/instruments.ts', 'src/platform/metrics/metrics.ts'].includes(path),
);

const environmentReaders: ReadonlyMap<string, string> = new Map([
  ['src/platform/settings/environment.ts', 'reads the settings'],
  [
    'src/platform/embedded-postgres/embedded-postgres-programs.ts',
    "passes the environment to PostgreSQL's programs and reads no setting",
  ],
]);

export const onlyConfigReadsTheEnvironment: Rule = (files) =>
  violationsIn(
    sourcesOf(files).filter(({ path }) => !environmentReaders.has(path)),
    (node, file) => {
      const isAccess =
        (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) &&
        /^(globalThis\.)?process(\.env|\[['"]env['"]\])$/.test(node.getText(file.ast));
      const isImport =
        ts.isImportSpecifier(node) &&
        (node.propertyName ?? node.name).text === 'env' &&
        /process['"]/.test(node.parent.parent.parent.getText(file.ast));
      return isAccess || isImport ? 'reads the environment' : undefined;
    },
  );
