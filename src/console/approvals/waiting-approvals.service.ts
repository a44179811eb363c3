// Loads what awaits approval, as an approver reads it: whom each payment pays, who requested it,
// and whether this person can decide it.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/accounts/api-keys.service.js';
import { listRowsAwaitingApproval } from '../../outbound/bulk/bulk.queries.js';
import { seesPersonalData } from '../../access/counterparties/counterparty.schema.js';
import {
  counterpartyIn,
  findCounterparties,
} from '../../access/counterparties/counterparties.queries.js';
import { maskParty } from '../../access/counterparties/masking.js';
import { mostCounted, toTotal, type ListTotal, type Page } from '../../platform/http/listing.js';
import { Database } from '../../platform/postgres/database.service.js';
import { Approvals, type StandingDecision } from '../../outbound/operations/approvals.service.js';
import * as queries from './waiting-approvals.queries.js';
import { readWaitingCursor } from './waiting-cursor.js';
import { PixLookupsService } from '../../outbound/transfers/pix-lookups.service.js';
import {
  readRequestedPayment,
  withLookedUpPayee,
  type RequestedPayment,
} from '../requested-payment.js';

export type Waiting = Omit<queries.WaitingRow, 'requestBody'> & {
  payment: RequestedPayment;
  decisions: readonly StandingDecision[];
  given: number;
  /** What the person has to do with it: who made it decides nothing, and nobody decides twice. */
  own: 'made' | 'decided' | null;
};

/** As many as one form decides: each is a transaction of its own. */
export const maxDecidedTogether = 100;

type Viewer = Pick<Caller, 'accountId' | 'actor' | 'scopes'>;

@Injectable()
export class WaitingApprovals {
  constructor(
    private readonly database: Database,
    private readonly approvals: Approvals,
    private readonly lookUps: PixLookupsService,
  ) {}

  /** The most urgent first; one more than the page holds. */
  async listPage(viewer: Viewer, { limit, after }: Page, kind?: string): Promise<Waiting[]> {
    const { prisma } = this.database;
    const page = { limit, kind, after: after === null ? null : readWaitingCursor(after) };
    return this.describe(viewer, await queries.listWaiting(prisma, viewer.accountId, page));
  }

  async total(accountId: number, kind?: string): Promise<ListTotal> {
    const { prisma } = this.database;
    const counted = { kind, most: mostCounted + 1 };
    return toTotal(await queries.totalWaiting(prisma, accountId, counted));
  }

  /** Those of the operations that still await approval. */
  async listOf(viewer: Viewer, ids: readonly string[]): Promise<Waiting[]> {
    const { prisma } = this.database;
    return this.describe(viewer, await queries.listWaitingOf(prisma, viewer.accountId, ids));
  }

  /** The rows of an upload after a line that the person has not decided, in their order. */
  async listOfUpload(viewer: Viewer, uploadId: string, afterLine = 0): Promise<Waiting[]> {
    const { accountId, actor } = viewer;
    const page = { afterLine, limit: maxDecidedTogether, actor };
    const { prisma } = this.database;
    const rows = await listRowsAwaitingApproval(prisma, accountId, uploadId, page);
    const found = await this.listOf(
      viewer,
      rows.map(({ operationId }) => operationId),
    );
    return found.sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
  }

  /** The id of the most urgent operation that the person can decide; null without one. */
  async findNext({ accountId, actor }: Viewer): Promise<string | null> {
    return queries.findNextWaiting(this.database.prisma, accountId, actor);
  }

  /** A person's actor is their holder. */
  private async describe(
    { accountId, actor, scopes }: Viewer,
    rows: readonly queries.WaitingRow[],
  ): Promise<Waiting[]> {
    const decisions = await this.approvals.listStanding(
      accountId,
      rows.map(({ id }) => id),
    );
    const requested = rows.map(readRequestedPayment);
    const lookUps = requested.flatMap(({ endToEndId }) => endToEndId ?? []);
    const payees = await this.lookUps.findPayees(accountId, lookUps);
    const payments = requested.map((payment) => withLookedUpPayee(payment, payees));
    const nsus = payments.flatMap(({ refundedNsu }) => refundedNsu ?? []);
    const payers = await findCounterparties(this.database.prisma, accountId, nsus);
    const isVisible = seesPersonalData(scopes);
    return rows.map(({ requestBody: _, ...row }, index) => {
      const payment = payments[index] as RequestedPayment;
      const { refundedNsu } = payment;
      const payer = refundedNsu === null ? null : counterpartyIn(payers, refundedNsu);
      const named = payer ?? payment.party;
      const party = { ...named, name: named.name ?? row.beneficiaryName };
      const standing = decisions.get(row.id) ?? { given: 0, decisions: [] };
      const hasDecided = standing.decisions.some((one) => one.holder === actor && one.counts);
      return {
        ...{ ...row, ...standing },
        counterparty: isVisible ? row.counterparty : null,
        beneficiaryName: isVisible ? row.beneficiaryName : null,
        payment: {
          ...payment,
          party: isVisible ? party : maskParty(party),
          description: isVisible ? payment.description : null,
          digitableLine: isVisible ? payment.digitableLine : null,
          pixKey: isVisible ? payment.pixKey : null,
        },
        own: row.holder === actor ? 'made' : hasDecided ? 'decided' : null,
      };
    });
  }
}
