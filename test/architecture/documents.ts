// Every path that the documents name exists.
import type { ProjectFile, Rule } from './project-file.js';

/** Created by running the project; a clean checkout does not have them. */
const generatedPaths = /^(\.data|\.prepared|dist|coverage|node_modules|src\/generated|\.env)(\/|$)/;
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

/** Words in backticks outside code blocks. Code blocks show commands and responses. */
function pathsNamedIn({ text }: ProjectFile): { name: string; index: number }[] {
  const prose = text.replace(/^```.*?^```/gms, (block) => block.replace(/[^\n]/g, ' '));
  return [...prose.matchAll(/`([^`\n]+)`/g)].flatMap(({ 1: code = '', index }) =>
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
