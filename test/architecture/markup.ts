// What a page of the console is made of: the kit's elements and plain HTML. Tables, forms and
// classes of the stylesheet stand in the kit alone, so that each of them looks and works one way.
import type { ProjectFile, Rule } from './project-file.js';

/** Folders of the console whose pages are still to move to the kit. */
const notMoved = ['first-steps'];

const folderOf = ({ path }: ProjectFile) =>
  /^src\/console\/([\w-]+)\/.*(?<!\.spec)\.tsx$/.exec(path)?.[1] ?? null;
const markup = /<(?:table|form)\b|\bclass=/g;

const markupIn = (file: ProjectFile) =>
  [...file.text.matchAll(markup)].map(({ 0: text, index }) =>
    file.violation(index, `"${text}" stands outside of the kit`),
  );

export const markupStandsInTheKit: Rule = (files) =>
  files.flatMap((file) => {
    const folder = folderOf(file);
    if (folder === null || folder === 'kit' || notMoved.includes(folder)) return [];
    return markupIn(file);
  });

/** A folder that has moved is no exception any more. */
export const foldersToMoveHaveMarkup: Rule = (files) =>
  notMoved
    .filter((folder) => {
      const own = files.filter((file) => folderOf(file) === folder);
      return own.length > 0 && own.every((file) => markupIn(file).length === 0);
    })
    .map((folder) => `src/console/${folder} has moved to the kit: remove the exception`);
