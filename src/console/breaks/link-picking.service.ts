// Finds what a person may link to a break by its name, amount, day or id: what the search box
// finds, of the side that the break lacks.
import { Injectable } from '@nestjs/common';
import { saoPauloDay } from '../../brazil/statement-day.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { BreakDetail } from '../../reconciliation/breaks/break-reading.service.js';
import { BreakSides } from '../../reconciliation/breaks/break-sides.service.js';
import { searchLines, searchPayments } from '../search/search.queries.js';
import { readSearchTerms, withoutPersonalTerms } from '../search/search-terms.js';
import { callerOf, typed, type Visit } from '../visit.js';
import type { Candidate, Picked } from './break-facts.js';
import { listLinesOfDay, listPaymentsOfDay } from './link-picking.queries.js';
import { linkedBy } from './open-actions.js';

/** As many as a person compares. */
const maxPicked = 20;

@Injectable()
export class LinkPicking {
  constructor(
    private readonly database: Database,
    private readonly sides: BreakSides,
  ) {}

  /** By the field `find` of the form that was sent; null without one. */
  async find(visit: Visit, found: BreakDetail): Promise<Picked | null> {
    const text = typed(visit, 'find');
    if (text === '') return null;
    const by = linkedBy(found);
    const known = new Set(
      found.candidates.map(({ nsu, expectedPaymentId }) => expectedPaymentId ?? String(nsu)),
    );
    const candidates =
      by === 'nsu'
        ? await this.findLines(visit, found, text)
        : by === 'expectedPaymentId'
          ? await this.findPayments(visit, found, text)
          : [];
    const others = candidates.filter(
      ({ nsu, expectedPaymentId }) => !known.has(expectedPaymentId ?? String(nsu)),
    );
    return { text, candidates: others.slice(0, maxPicked) };
  }

  /** Payments of the direction of the break's line, of which something is still owed. */
  private async findPayments(visit: Visit, { nsu }: BreakDetail, text: string) {
    const caller = callerOf(visit);
    const { accountId } = caller;
    const { prisma } = this.database;
    const day = readDay(text);
    const ids =
      day === null
        ? (await searchPayments(prisma, accountId, termsOf(visit, text), [])).map(({ id }) => id)
        : await listPaymentsOfDay(prisma, accountId, day);
    const [lines, payments] = await Promise.all([
      this.sides.findLines(caller, nsu === null ? [] : [nsu]),
      this.sides.findPayments(caller, ids),
    ]);
    const line = lines.get(nsu ?? 0n);
    return [...payments.values()].flatMap((one): Candidate[] => {
      const { expectedPaymentId, amountCents, paidCents, isCredit, kind, counterparty } = one;
      const amount = amountCents === null ? null : amountCents - paidCents;
      if (isCredit !== line?.isCredit || one.withdrawnAt !== null || amount === 0n) return [];
      const ofDay = one.dueDate ?? saoPauloDay(one.createdAt);
      return [
        {
          ...{ expectedPaymentId, nsu: null, kind, counterparty, amount, day: ofDay },
          ...{ score: 0, reasons: [] },
        },
      ];
    });
  }

  /** Lines of the direction of the break's payment. */
  private async findLines(visit: Visit, { expectedPaymentId }: BreakDetail, text: string) {
    const caller = callerOf(visit);
    const { accountId } = caller;
    const { prisma } = this.database;
    const day = readDay(text);
    const nsus =
      day === null
        ? (await searchLines(prisma, accountId, termsOf(visit, text))).map(({ nsu }) => nsu)
        : await listLinesOfDay(prisma, accountId, day);
    const [lines, payments] = await Promise.all([
      this.sides.findLines(caller, nsus),
      this.sides.findPayments(caller, expectedPaymentId === null ? [] : [expectedPaymentId]),
    ]);
    const payment = payments.get(expectedPaymentId ?? '');
    return [...lines.values()].flatMap((one): Candidate[] => {
      const { nsu, amountCents: amount, isCredit, kind, counterparty, occurredAt } = one;
      if (isCredit !== payment?.isCredit) return [];
      return [
        {
          ...{ expectedPaymentId: null, nsu, kind, counterparty, amount },
          ...{ day: saoPauloDay(occurredAt), score: 0, reasons: [] },
        },
      ];
    });
  }
}

/** Who may not see personal data searches by none: who paid must not be guessed either. */
function termsOf(visit: Visit, text: string) {
  const terms = readSearchTerms(text);
  return visit.may('see personal data') ? terms : withoutPersonalTerms(terms);
}

/** `23/11/2026`, `2026-11-23`; null for what is no day. */
function readDay(text: string): string | null {
  const [, day, month, year] = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(text) ?? [];
  const iso = day === undefined ? text : `${year}-${month}-${day}`;
  return /^\d{4}-\d{2}-\d{2}$/.test(iso) && !Number.isNaN(Date.parse(iso)) ? iso : null;
}
