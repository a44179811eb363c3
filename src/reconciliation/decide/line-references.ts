// The ids on a statement line that may name an expected payment, and how reliable each kind is.
import {
  referenceKindDeclarations,
  referenceKinds,
  type Reference,
  type ReferenceKind,
} from '../../expected-payments/references.js';
import type { StatementLineFacts } from './model.js';

/** The most reliable kind first. */
export function lineReferences(line: StatementLineFacts): Reference[] {
  return Object.entries(referenceKindDeclarations).flatMap(([kind, declaration]) => {
    const value = declaration.line && line[declaration.line.field];
    return value === null ? [] : [{ kind: kind as ReferenceKind, value: value.toString() }];
  });
}

const ranks = new Map<string, number>(referenceKinds.map((kind, rank) => [kind, rank]));

/** The lower, the more reliable. Kinds that are not references come last. */
export function rankOfReference(kind: string): number {
  return ranks.get(kind) ?? ranks.size;
}
