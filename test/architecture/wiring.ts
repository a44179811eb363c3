// Routes, jobs and operation kinds are wired exactly once.
import ts from 'typescript';
import {
  importsOf,
  isInSandbox,
  nameParts,
  sourcesOf,
  violationsIn,
  walk,
  type ProjectFile,
  type Rule,
} from './project-file.js';

/** A name that occurs at a node. */
interface Mention {
  file: ProjectFile;
  node: ts.Node;
  name: string;
}

function mentionsIn(
  files: readonly ProjectFile[],
  read: (node: ts.Node, file: ProjectFile) => string | undefined,
): Mention[] {
  return files.flatMap((file) => {
    const mentions: Mention[] = [];
    walk(file.ast, (node) => {
      const name = read(node, file);
      if (name !== undefined) mentions.push({ file, node, name });
    });
    return mentions;
  });
}

/** The first argument of `called(…)`, as a decorator or as a plain call. */
function argumentOf(node: ts.Node, called: string): ts.Expression | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  const isCalled = ts.isIdentifier(node.expression) && node.expression.text === called;
  return isCalled ? node.arguments[0] : undefined;
}

/** Reports expected names that are mentioned never or more than once. */
function onceEach(
  expected: readonly Mention[],
  mentions: readonly Mention[],
  what: string,
): string[] {
  return expected.flatMap(({ file, node, name }) => {
    const found = mentions.filter((mention) => mention.name === name);
    if (found.length === 1) return [];
    const places = found.map((mention) => mention.file.path).join(', ');
    return [file.violation(node, `${name}: ${what} ${found.length} times ${places}`.trimEnd())];
  });
}

/** `jobs.x.name` → `x`. */
function jobOfName(name: ts.Expression | undefined): string | undefined {
  return /^jobs\.(\w+)\.name$/.exec(name?.getText() ?? '')?.[1];
}

export const eachJobHasOneProcessor: Rule = (files) => {
  const sources = sourcesOf(files);
  const declared = mentionsIn(
    sources.filter(({ path }) => path === 'src/platform/queue/queues.ts'),
    (node) => {
      const isJob = ts.isPropertyAssignment(node) && argumentOf(node.initializer, 'job');
      return isJob ? node.name.getText() : undefined;
    },
  );
  const worked = mentionsIn(sources, (node) => jobOfName(argumentOf(node, 'Processor')));
  return onceEach(declared, worked, 'has a processor');
};

/** The queues that a module registers by their names in the catalogue. */
function registeredQueues(file: ProjectFile): ReadonlySet<string> {
  const found = new Set<string>();
  walk(file.ast, (node) => {
    const isCall = ts.isCallExpression(node) && /\.registerQueue$/.test(node.expression.getText());
    if (isCall)
      for (const [, job] of node.getText().matchAll(/jobs\.(\w+)\.name/g)) found.add(job!);
  });
  return found;
}

/**
 * A module registers the queues that its files enqueue to or work. The module of a file is the one
 * that imports it.
 */
export const queuesAreRegisteredWhereUsed: Rule = (files) => {
  const sources = sourcesOf(files);
  const modules = sources.filter(({ path }) => nameParts(path).role === 'module');
  return violationsIn(sources, (node, file) => {
    const job = jobOfName(argumentOf(node, 'InjectQueue') ?? argumentOf(node, 'Processor'));
    if (!job) return undefined;
    const isRegistered = modules.some(
      (one) =>
        importsOf(one).some(({ target }) => target === file.path) && registeredQueues(one).has(job),
    );
    return isRegistered ? undefined : `its module does not register the queue of ${job}`;
  });
};

export const eachOperationKindIsRegisteredOnce: Rule = (files) => {
  const sources = sourcesOf(files);
  const kinds = mentionsIn(sources, (node, file) =>
    isOperationKind(node, file) ? `${file.path}#${node.name.getText()}` : undefined,
  );
  const names = kinds.map(({ file, node }) => ({ file, node, name: nameProperty(node) }));
  const registered = mentionsIn(sources, registeredKind);
  return [
    ...onceEach(kinds, registered, 'is registered'),
    ...onceEach(names, names, 'names a kind'),
  ];
};

/** A constant or class property declared as an OperationKind, with its value. */
function isOperationKind(
  node: ts.Node,
  file: ProjectFile,
): node is ts.VariableDeclaration | ts.PropertyDeclaration {
  if (!ts.isVariableDeclaration(node) && !ts.isPropertyDeclaration(node)) return false;
  const { initializer } = node;
  if (!initializer) return false;
  const type = node.type ?? (ts.isSatisfiesExpression(initializer) ? initializer.type : undefined);
  return /^OperationKind\b/.test(type?.getText(file.ast) ?? '');
}

/** `….register(x)` and `….register(this.x)` → the declaring file of `x` and its name there. */
function registeredKind(node: ts.Node, file: ProjectFile): string | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression))
    return undefined;
  const kind = node.expression.name.text === 'register' ? node.arguments[0] : undefined;
  if (!kind) return undefined;
  const local = ts.isPropertyAccessExpression(kind) ? kind.name.text : kind.getText(file.ast);
  for (const { target, names } of importsOf(file))
    for (const name of names) if (name.local === local) return `${target}#${name.imported}`;
  return `${file.path}#${local}`;
}

function nameProperty(node: ts.Node): string {
  let name = '';
  walk(node, (child) => {
    const isName = ts.isPropertyAssignment(child) && child.name.getText() === 'name';
    if (isName && ts.isStringLiteral(child.initializer)) name ||= child.initializer.text;
  });
  return name;
}

/** Routes that the service calls only: no bank has them. */
const notServedByTheService: ReadonlySet<string> = new Set(['readSandboxAccount']);

/** Both applications serve each contract route. Other routes are served where they are declared. */
export const eachRouteIsServedOnce: Rule = (files) => {
  const sources = sourcesOf(files);
  const routes = mentionsIn(sources, (node) => {
    if (!ts.isVariableDeclaration(node) || !node.initializer) return undefined;
    return argumentOf(node.initializer, 'route') ? node.name.getText() : undefined;
  });
  const handled = mentionsIn(sources, handledRoute);
  const inService = handled.filter(({ file }) => !isInSandbox(file.path));
  const inSandbox = handled.filter(({ file }) => isInSandbox(file.path));
  const isContract = ({ file }: Mention) => file.path.startsWith('src/bank-contract/');
  const ofService = routes.filter(
    ({ file, name }) => !isInSandbox(file.path) && !notServedByTheService.has(name),
  );
  const ofSandbox = routes.filter((route) => isInSandbox(route.file.path) || isContract(route));
  return [
    ...onceEach(ofService, inService, 'the service serves it'),
    ...onceEach(ofSandbox, inSandbox, 'the sandbox serves it'),
  ];
};

/** `@Handles(x)` → the exported name of `x`. */
function handledRoute(node: ts.Node, file: ProjectFile): string | undefined {
  const route = argumentOf(node, 'Handles');
  if (!route) return undefined;
  if (ts.isPropertyAccessExpression(route)) return route.name.text;
  const local = route.getText(file.ast);
  const names = importsOf(file).flatMap((one) => one.names);
  return names.find((name) => name.local === local)?.imported ?? local;
}

const scopeDecorator = 'RequiresScope';

/**
 * A handler of a writing route requires a scope; otherwise a key with the scope `read` could call
 * it. Routes of the operator and routes without authentication have no scopes.
 */
export const eachChangeRequiresAScope: Rule = (files) => {
  const sources = sourcesOf(files).filter(({ path }) => !isInSandbox(path));
  const readsOnly = new Set<string>();
  const scoped = new Set<string>();
  for (const file of sources)
    walk(file.ast, (node) => {
      if (!ts.isVariableDeclaration(node) || !node.initializer) return;
      const declared = argumentOf(node.initializer, 'route');
      if (!declared || !ts.isObjectLiteralExpression(declared)) return;
      const properties = propertiesOf(declared, file);
      if (properties.get('method') === 'GET') readsOnly.add(node.name.getText(file.ast));
      const authentication = properties.get('authentication') ?? '';
      if (!['admin-key', 'none'].includes(authentication)) scoped.add(node.name.getText(file.ast));
    });
  return violationsIn(sources, (node, file) => {
    if (!ts.isMethodDeclaration(node)) return undefined;
    const decorators = (ts.getDecorators(node) ?? []).map(({ expression }) => expression);
    const route = decorators.map((one) => handledRoute(one, file)).find((name) => name);
    if (route === undefined || readsOnly.has(route) || !scoped.has(route)) return undefined;
    const hasScope = decorators.some((one) => argumentOf(one, scopeDecorator));
    return hasScope
      ? undefined
      : `${route} changes data: its handler lacks @${scopeDecorator}('…')`;
  });
};

/** An object's text properties, with those it spreads from a constant of the same file. */
function propertiesOf(object: ts.ObjectLiteralExpression, file: ProjectFile): Map<string, string> {
  const found = new Map<string, string>();
  for (const property of object.properties) {
    if (ts.isPropertyAssignment(property) && ts.isStringLiteral(property.initializer))
      found.set(property.name.getText(file.ast), property.initializer.text);
    if (!ts.isSpreadAssignment(property)) continue;
    const spread = property.expression.getText(file.ast);
    walk(file.ast, (node) => {
      if (!ts.isVariableDeclaration(node) || node.name.getText(file.ast) !== spread) return;
      const value = node.initializer;
      const inner = value && ts.isAsExpression(value) ? value.expression : value;
      if (inner && ts.isObjectLiteralExpression(inner))
        for (const [name, text] of propertiesOf(inner, file)) found.set(name, text);
    });
  }
  return found;
}
