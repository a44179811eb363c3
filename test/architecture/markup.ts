// What a page of the console is made of: the kit's elements and plain HTML. Tables, forms and
// classes of the stylesheet stand in the kit alone, so that each of them looks and works one way.
import type { Rule } from './project-file.js';

const pageFile = /^src\/console\/(?!kit\/).*(?<!\.spec)\.tsx$/;

export const markupStandsInTheKit: Rule = (files) =>
  files
    .filter(({ path }) => pageFile.test(path))
    .flatMap((file) =>
      [...file.text.matchAll(/<(?:table|form)\b|\bclass=/g)].map(({ 0: text, index }) =>
        file.violation(index, `"${text}" stands outside of the kit`),
      ),
    );
