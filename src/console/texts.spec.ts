// The texts of the console, and that its pages have no others.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { ClassificationCategory } from '../generated/service/enums.js';
import { auditedActions, auditedSubjects } from '../access/people/audited-actions.js';
import { findTextKey, texts, translateInto } from './texts.js';
import { chooseLanguage } from './texts/languages.js';

describe('a text of the console', () => {
  it.each(Object.entries(texts))(
    '%s is there in both languages, with the same values',
    (_, both) => {
      const [pt, en] = both.map((text) =>
        [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort(),
      );
      expect(pt).toEqual(en);
      expect(both.every((text) => text.trim() !== '')).toBe(true);
    },
  );

  it('names each category of a classified line', () => {
    const categories = Object.values(ClassificationCategory);
    const missing = categories.filter((category) => !findTextKey(`days.category.${category}`));
    expect(missing).toEqual([]);
  });

  it('names each action of the audit, and what it was done to', () => {
    const keys = [
      ...auditedActions.map((action) => `action.${action}`),
      ...auditedSubjects.map((subject) => `subject.${subject}`),
    ];
    expect(keys.filter((key) => !findTextKey(key))).toEqual([]);
  });

  it('is filled in with its values', () => {
    expect(translateInto('pt')('today.openBreaks', { count: 3 })).toBe(
      'Nem tudo está explicado. Divergências abertas: 3.',
    );
  });

  it('has one key in all lists', async () => {
    const files = readdirSync(join(import.meta.dirname, 'texts'));
    const lists = await Promise.all(
      files.map(async (name) => {
        const list = (await import(`./texts/${name}`)) as Record<string, unknown>;
        return Object.entries(list).filter(([key]) => key.endsWith('Texts'));
      }),
    );
    const keys = lists.flat().flatMap(([, list]) => Object.keys(list as object));
    expect(keys.sort()).toEqual(Object.keys(texts).sort());
  });

  it('is in no page itself', () => {
    // The page of the kit's elements is for those who build pages.
    const pages = listFiles(import.meta.dirname).filter(
      (name) => name.endsWith('.tsx') && !name.startsWith('components'),
    );
    expect(pages.length).toBeGreaterThan(5);
    expect(pages.flatMap((name) => foreignTexts(name))).toEqual([]);
  });

  it('is found by that test where it stands in a page', () => {
    const page =
      'const a = <p title="Hello">{t("x")} Olá <input name="e" placeholder="E-mail" /></p>;';
    expect(textsIn('page.tsx', page)).toEqual(['title="Hello"', 'Olá', 'placeholder="E-mail"']);
  });
});

/** The name of the product is the same in every language. */
const names = ['Concilia'];
const readAttributes = ['title', 'placeholder', 'aria-label', 'label', 'hint', 'alt'];

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' });
}

function foreignTexts(name: string): string[] {
  return textsIn(name, readFileSync(join(import.meta.dirname, name), 'utf8')).filter(
    (text) => !names.includes(text),
  );
}

/** What a person would read that is no key. */
function textsIn(name: string, source: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node) && /\p{L}/u.test(node.text)) found.push(node.text.trim());
    if (ts.isJsxAttribute(node) && node.initializer && ts.isStringLiteral(node.initializer)) {
      const attribute = node.name.getText();
      const isKey = findTextKey(node.initializer.text) !== null;
      if (readAttributes.includes(attribute) && !isKey) found.push(node.getText());
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, source, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TSX));
  return found;
}

describe('the language', () => {
  it.each([
    [undefined, 'pt-BR,pt;q=0.9,en-US;q=0.8', 'pt'],
    [undefined, 'en-US,en;q=0.9,pt-BR;q=0.8', 'en'],
    [undefined, 'en;q=0.5, pt;q=0.9', 'pt'],
    [undefined, 'de-DE,de;q=0.9', 'en'],
    [undefined, 'pt;q=0, en', 'en'],
    [undefined, '', 'pt'],
    [undefined, '*', 'pt'],
    ['en', 'pt-BR', 'en'],
    ['pt', 'en', 'pt'],
    ['fr', 'en', 'en'],
  ] as const)(
    'that was chosen as %s with Accept-Language %p is %s',
    (chosen, accepted, language) => {
      expect(chooseLanguage(chosen, accepted)).toBe(language);
    },
  );
});
