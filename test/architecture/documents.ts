// Every path and every section that the documents name exists.
import { posix } from 'node:path';
import type { ProjectFile, Rule } from './project-file.js';

/** Created by running the project; a clean checkout does not have them. */
const generatedPaths =
  /^(\.(data|dev|prepared)|dist|coverage|node_modules|src\/generated|\.env)(\/|$)/;
const endings = /\.(ts|tsx|mjs|js|json|md|prisma|sql|yml|example)$/;

export const documentsNameFilesThatExist: Rule = (files) => {
  const paths = files.map(({ path }) => path);
  const documents = files.filter(({ path }) =>
    /^(docs\/.*\.md|README\.md|CONTRIBUTING\.md)$/.test(path),
  );
  return documents.flatMap((document) =>
    pathsNamedIn(document)
      .filter(({ name }) => looksLikePath(name, paths) && !exists(name, paths))
      .map(({ name, index }) => document.violation(index, `${name} does not exist`)),
  );
};

/** Every relative link of a page, with its anchor, leads to a file and a heading that are there. */
export const documentLinksResolve: Rule = (files) => {
  const pages = new Map(files.map((file) => [file.path, file]));
  const isFolder = (path: string) => files.some((file) => file.path.startsWith(`${path}/`));
  return files
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap((page) =>
      linksOf(page).flatMap(({ target, index }) => {
        const [path = '', anchor] = target.split('#');
        const name = path === '' ? page.path : posix.join(posix.dirname(page.path), path);
        const file = pages.get(name);
        if (!file && !isFolder(name)) return page.violation(index, `${target} leads to no file`);
        const isThere = anchor === undefined || (file && anchorsOf(file).includes(anchor));
        return isThere ? [] : page.violation(index, `${target} leads to no heading`);
      }),
    );
};

function linksOf(page: ProjectFile): { target: string; index: number }[] {
  return [...proseOf(page).matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)]
    .map(({ 1: markdown, 2: html = '', index }) => ({ target: markdown ?? html, index }))
    .filter(({ target }) => !/^[a-z]+:/.test(target));
}

/** As GitHub makes them of headings: lower case, no punctuation, `-` for each space. */
function anchorsOf(page: ProjectFile): string[] {
  return [...proseOf(page).matchAll(/^#+ +(.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Code blocks show commands and responses. */
function proseOf({ text }: ProjectFile): string {
  return text.replace(/^```.*?^```/gms, (block) => block.replace(/[^\n]/g, ' '));
}

/** Words in backticks outside code blocks. */
function pathsNamedIn(document: ProjectFile): { name: string; index: number }[] {
  return [...proseOf(document).matchAll(/`([^`\n]+)`/g)].flatMap(({ 1: code = '', index }) =>
    code.split(/\s+/).map((word) => ({ name: withoutAnchor(word), index })),
  );
}

function withoutAnchor(word: string): string {
  return word
    .replace(/[,;.]$/, '')
    .replace(/(:\d+(-\d+)?|#[\w-]+)$/, '')
    .replace(/^\.\//, '');
}

/** A path begins with a folder of the root or of src/, or has the ending of a project file. */
function looksLikePath(name: string, paths: readonly string[]): boolean {
  if (
    !/^[\w.@<*{][\w.@/<>*{},-]*$/.test(name) ||
    name.startsWith('..') ||
    generatedPaths.test(name)
  )
    return false;
  const [first = ''] = name.split('/');
  const isFolder = (folder: string) => paths.some((path) => path.startsWith(`${folder}/`));
  if (name.includes('/')) return isFolder(first) || isFolder(`src/${first}`) || endings.test(name);
  return endings.test(name) && !name.startsWith('*');
}

/** Matches the start or the end of a path; `<module>`, `*` and `{a,b}` match any name. */
function exists(name: string, paths: readonly string[]): boolean {
  const pattern = name
    .replace(/\/$/, '')
    .split(/(<[^>]*>|\*+|\{[^}]*\})/)
    .map((part, index) => (index % 2 === 0 ? part.replace(/[.+?^$()[\]\\|]/g, '\\$&') : '[^/]+'))
    .join('');
  const isThere = new RegExp(`(^|/)${pattern}(/|$)`);
  return paths.some((path) => isThere.test(path));
}
