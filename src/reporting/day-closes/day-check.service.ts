// Checks one certified day: its place in the chain, and its lines with their outcomes. It reads one
// day and its neighbours in the chain; `concilia verify` checks all of it (`Verifier`).
import { Injectable } from '@nestjs/common';
import { Database, type Db } from '../../platform/postgres/database.service.js';
import type { DayClose } from '../../generated/service/client.js';
import { AppError } from '../../platform/errors.js';
import { readCertificate, zeroHash } from './certificate.js';
import {
  compareValues,
  differenceOfDay,
  differenceOfLink,
  differenceOfSignature,
} from './chain-check.js';
import { readSpanFigures } from './day-lines.queries.js';
import { DayTree } from './day-tree.queries.js';
import { readStatedRoot } from './statement-tree.queries.js';
import { spanOf } from './closed-day.js';
import type { Difference } from './stored-line.js';

/** A day with more lines is left to `concilia verify`: reading them takes seconds. */
export const maxCheckedLines = 50_000;
/** Of a day that was amended more often, the last ones are checked. */
const maxRevisions = 20;

export interface CheckedDay {
  /** How many certificates of the day were checked in the chain. */
  certificates: number;
  /** How many lines were compared with the current certificate; null if they are too many. */
  lines: number | null;
  /** The first difference; null if everything agrees. */
  difference: Difference | null;
}

@Injectable()
export class DayCheck {
  constructor(private readonly database: Database) {}

  /** Throws `not_found` for a day without a certificate. */
  async check(accountId: number, date: string): Promise<CheckedDay> {
    return this.database.prisma.$transaction((db) => checkIn(db, accountId, date), {
      isolationLevel: 'RepeatableRead',
    });
  }
}

async function checkIn(db: Db, accountId: number, date: string): Promise<CheckedDay> {
  const newest = await db.dayClose.findMany({
    where: { accountId, date },
    orderBy: { revision: 'desc' },
    take: maxRevisions,
  });
  const [current] = newest;
  if (!current) throw new AppError('not_found');
  const checked = { certificates: newest.length, lines: null };
  for (const link of [...newest].reverse()) {
    const difference = await differenceInChain(db, link);
    if (difference) return { ...checked, difference };
  }
  if (current.lineCount > maxCheckedLines) return { ...checked, difference: null };
  const certificate = readCertificate(current.certificate);
  const span = spanOf(certificate);
  const figures = await readSpanFigures(db, span);
  const tree = await DayTree.read(db, span, figures);
  const root = await readStatedRoot(db, certificate, span, figures);
  const difference =
    differenceOfSignature(certificate, current, undefined) ??
    differenceOfDay(certificate, figures, tree, root);
  return { ...checked, lines: figures.lines, difference };
}

/** Compares a certificate with the one before it, and the one after it with this one. */
async function differenceInChain(db: Db, link: DayClose): Promise<Difference | null> {
  const { accountId, sequence, date, hash } = link;
  const neighbours = await db.dayClose.findMany({
    where: { accountId, sequence: { in: [sequence - 1, sequence + 1] } },
    select: { sequence: true, hash: true, previousHash: true },
  });
  const find = (wanted: number) => neighbours.find((one) => one.sequence === wanted);
  const before = sequence === 1 ? { sequence: 0, hash: zeroHash } : find(sequence - 1);
  if (!before) return compareValues(date, `certificate ${sequence - 1}`, 'one', 'none');
  const after = find(sequence + 1);
  return (
    differenceOfLink(link, before) ??
    (after ? compareValues(date, 'previousHash', hash, after.previousHash) : null)
  );
}
