// The project as the rules read it: files by path, as text, and TypeScript as a syntax tree.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import ts from 'typescript';

export class ProjectFile {
  private parsed: ts.SourceFile | undefined;

  constructor(
    /** From the project's root, with `/`. */
    readonly path: string,
    private readonly read: () => string,
  ) {}

  get text(): string {
    return this.read();
  }

  get ast(): ts.SourceFile {
    return (this.parsed ??= ts.createSourceFile(
      this.path,
      this.text,
      ts.ScriptTarget.ES2023,
      true,
    ));
  }

  /** A violation as every rule reports it: `path:line message`. */
  violation(at: ts.Node | number, message: string): string {
    const position = typeof at === 'number' ? at : at.getStart(this.ast);
    const line = this.text.slice(0, position).split('\n').length;
    return `${this.path}:${line} ${message}`;
  }
}

/** A rule reads the whole project and returns one text for each violation. */
export type Rule = (files: readonly ProjectFile[]) => string[];

export interface ProvenRule {
  name: string;
  rule: Rule;
  /** A small tree that breaks the rule, text by path, and the violations the rule must report. */
  tree: Record<string, string>;
  found: string[];
}

/** Builds a small tree for the proof of a rule. */
export function treeOf(contents: Record<string, string>): ProjectFile[] {
  return Object.entries(contents).map(([path, text]) => new ProjectFile(path, () => text));
}

const excludedFolders = new Set([
  ...['.git', 'node_modules', 'dist', 'generated', 'coverage', '.data', '.dev', '.prepared'],
]);

/** Every file of the project that is not installed, generated or built. */
export function readTree(root: string): ProjectFile[] {
  const walk = (folder: string): ProjectFile[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const absolute = join(folder, entry.name);
      const path = relative(root, absolute).replaceAll('\\', '/');
      if (excludedFolders.has(entry.name)) return [];
      if (entry.isDirectory()) return walk(absolute);
      let text: string | undefined;
      return [new ProjectFile(path, () => (text ??= readFileSync(absolute, 'utf8')))];
    });
  return existsSync(root) ? walk(root) : [];
}

export function isSpec({ path }: ProjectFile): boolean {
  return /\.(e2e-)?spec\.tsx?$/.test(path);
}

/** The TypeScript under `src/` that runs in production. */
export function sourcesOf(files: readonly ProjectFile[]): ProjectFile[] {
  return files.filter((file) => /^src\/.*\.tsx?$/.test(file.path) && !isSpec(file));
}

/** As `sourcesOf`, and the TypeScript of the packages. */
export function productOf(files: readonly ProjectFile[]): ProjectFile[] {
  const ofPackages = files.filter(({ path }) => /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path));
  return [...sourcesOf(files), ...ofPackages.filter((file) => !isSpec(file))];
}

/** `src/outbound/charges/x.ts` → `outbound`; a file directly in `src/` is its own: `cli.ts`. */
export function moduleOf(path: string): string {
  return path.split('/')[1] ?? path;
}

/** `src/outbound/charges/x.ts` → `outbound`, `charges`: the folders that may own a table. */
export function foldersOf(path: string): string[] {
  return path.split('/').slice(1, -1);
}

export function isInSandbox(path: string): boolean {
  return path.startsWith('src/sandbox/');
}

/** Stem and role of a file name: `charges.service.ts` → `charges`, `service`. */
export function nameParts(path: string): { stem: string; role: string | null } {
  const [stem = '', ...rest] = (path.split('/').at(-1) ?? '').split('.');
  const roles = rest.filter(
    (part) => !['ts', 'tsx', 'mjs', 'js', 'spec', 'e2e-spec'].includes(part),
  );
  return { stem, role: roles.length > 0 ? roles.join('.') : null };
}

export interface Import {
  specifier: string;
  /** The imported file, from the project's root; null for a package. */
  target: string | null;
  isTypeOnly: boolean;
  /** The imported names; `*` means all. */
  names: { imported: string; local: string; isTypeOnly: boolean }[];
  node: ts.Node;
}

const importsByFile = new WeakMap<ProjectFile, Import[]>();

/** All imports of a file: import, re-export, and `import()` as a call or a type. */
export function importsOf(file: ProjectFile): Import[] {
  const known = importsByFile.get(file);
  if (known) return known;
  const found: Import[] = [];
  walk(file.ast, (node) => {
    const one = readImport(file, node);
    if (one) found.push(one);
  });
  importsByFile.set(file, found);
  return found;
}

function readImport(file: ProjectFile, node: ts.Node): Import | undefined {
  const all = { imported: '*', local: '*', isTypeOnly: false };
  if (ts.isImportDeclaration(node))
    return describeImport(file, node, node.moduleSpecifier, namesOf(node.importClause), {
      isTypeOnly: node.importClause?.isTypeOnly ?? false,
    });
  if (ts.isExportDeclaration(node) && node.moduleSpecifier)
    return describeImport(file, node, node.moduleSpecifier, [all], { isTypeOnly: node.isTypeOnly });
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    return describeImport(file, node, node.argument.literal, [all], { isTypeOnly: true });
  const isImportCall =
    ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  if (isImportCall && node.arguments[0])
    return describeImport(file, node, node.arguments[0], [all], { isTypeOnly: false });
  return undefined;
}

function describeImport(
  file: ProjectFile,
  node: ts.Node,
  specifier: ts.Node,
  names: Import['names'],
  { isTypeOnly }: { isTypeOnly: boolean },
): Import | undefined {
  if (!ts.isStringLiteral(specifier)) return undefined;
  const isRelative = specifier.text.startsWith('.');
  const path = normalize(join(dirname(file.path), specifier.text)).replaceAll('\\', '/');
  return {
    specifier: specifier.text,
    target: isRelative ? path.replace(/\.js$/, '.ts') : null,
    isTypeOnly: isTypeOnly || (names.length > 0 && names.every((name) => name.isTypeOnly)),
    names,
    node,
  };
}

function namesOf(clause: ts.ImportClause | undefined): Import['names'] {
  if (!clause) return [];
  const names: Import['names'] = [];
  const { isTypeOnly, name, namedBindings } = clause;
  if (name) names.push({ imported: 'default', local: name.text, isTypeOnly });
  if (namedBindings && ts.isNamespaceImport(namedBindings))
    names.push({ imported: '*', local: namedBindings.name.text, isTypeOnly });
  if (namedBindings && ts.isNamedImports(namedBindings))
    for (const element of namedBindings.elements)
      names.push({
        imported: (element.propertyName ?? element.name).text,
        local: element.name.text,
        isTypeOnly: isTypeOnly || element.isTypeOnly,
      });
  return names;
}

/** Visits a node and its descendants. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** Collects the violations that `check` reports for the nodes of each file. */
export function violationsIn(
  files: readonly ProjectFile[],
  check: (node: ts.Node, file: ProjectFile) => string | undefined,
): string[] {
  return files.flatMap((file) => {
    const violations: string[] = [];
    walk(file.ast, (node) => {
      const message = check(node, file);
      if (message !== undefined) violations.push(file.violation(node, message));
    });
    return violations;
  });
}
