// What a line is to the book, in the one order that all who read it keep: an open break, a match, a classification.
import { Prisma } from '../generated/service/client.js';
import { explainingBreakKinds } from './line-outcome.js';

/** Of a break, by its own columns: while this holds its line is in a break, whatever else is known of it. */
export const holdsItsLine = Prisma.sql`state = 'open' AND kind = ANY (${explainingBreakKinds}::text[])`;

/** The state of a line, from conditions on it; neither a null nor an absent row is one. */
export const explanationOf = (line: {
  isHeld: Prisma.Sql;
  isMatched: Prisma.Sql;
  isClassified: Prisma.Sql;
}): Prisma.Sql => Prisma.sql`
  CASE WHEN ${line.isHeld} THEN 'in_break' WHEN ${line.isMatched} THEN 'matched'
       WHEN ${line.isClassified} THEN 'classified' ELSE 'pending' END`;
