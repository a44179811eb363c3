// Reads what the story of a payment is put together from, by the keys that the payment has, and who
// its counterparty is.
import { Injectable } from '@nestjs/common';
import {
  counterpartyIn,
  findCounterparties,
  findExpectedCounterparties,
} from '../../access/counterparties/counterparties.queries.js';
import {
  seesPersonalData,
  shownCounterparty,
} from '../../access/counterparties/counterparty.schema.js';
import type { Counterparty } from '../../access/counterparties/resolution.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { NameOfActor } from '../../access/people/names-of-actors.service.js';
import { ActorNames } from '../actor-names.service.js';
import { callerOf, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';
import type { RelatedLink } from './record-page.js';
import { maxStoryRows, type StoryFacts } from './story-facts.js';
import { shownValue } from './story-timeline.js';
import { omittedOf, storyOf, wordFor, type StoryEntry } from './story.js';
import * as queries from './story.queries.js';

/** The keys of a payment. */
export interface StorySubject {
  /** The operation that requested it, and those that changed it. */
  operationIds: readonly string[];
  expectedPaymentIds: readonly string[];
  /** What its events are about. */
  resources: readonly queries.StoryResource[];
  /** Of a charge. */
  correlationIds?: readonly string[];
  /** Of a Pix: those that are known without a line. */
  endToEndIds?: readonly (string | null)[];
  /** Of the Pix that a refund returns: its breaks are part of the story. */
  originalNsu?: bigint;
  refundIds?: readonly string[];
}

/** A story with what its page needs to show it. */
export interface ComposedStory {
  entries: readonly StoryEntry[];
  omitted: readonly TextKey[];
  nameOf: NameOfActor;
  breaks: readonly RelatedLink[];
}

const maxBreakLinks = 5;

@Injectable()
export class PaymentStories {
  constructor(
    private readonly database: Database,
    private readonly actorNames: ActorNames,
  ) {}

  /** The story as the person may see it. */
  async compose(visit: Visit, subject: StorySubject): Promise<ComposedStory> {
    const facts = await this.read(visit.accountId, subject);
    const entries = storyOf(facts);
    const actors = entries.map(({ actor }) => actor);
    const breaks = facts.breaks.slice(0, maxBreakLinks).map(({ id, kind }) => ({
      ...({ label: 'word.break', list: 'breaks', id } as const),
      text: shownValue(visit, wordFor('break', kind)),
    }));
    const nameOf = await this.actorNames.find(visit, actors);
    return { entries, omitted: omittedOf(facts), nameOf, breaks };
  }

  /** Whom a request names, as the person may see it. */
  async findExpectedParty(visit: Visit, expectedPaymentId: string): Promise<Counterparty> {
    const { accountId, scopes } = callerOf(visit);
    const ids = [expectedPaymentId];
    const found = await findExpectedCounterparties(this.database.prisma, accountId, ids);
    return shownCounterparty(counterpartyIn(found, expectedPaymentId), seesPersonalData(scopes));
  }

  /** Whom a statement line names, as the person may see it. */
  async findPartyOfLine(visit: Visit, nsu: bigint): Promise<Counterparty> {
    const { accountId, scopes } = callerOf(visit);
    const found = await findCounterparties(this.database.prisma, accountId, [nsu]);
    return shownCounterparty(counterpartyIn(found, nsu), seesPersonalData(scopes));
  }

  private async read(accountId: number, subject: StorySubject): Promise<StoryFacts> {
    const db = this.database.prisma;
    const { operationIds, expectedPaymentIds, originalNsu, refundIds = [] } = subject;
    const [operations, attempts, decisions, matches, events, paymentFacts] = await Promise.all([
      queries.listOperationStories(db, accountId, operationIds),
      queries.listAttemptStories(db, accountId, operationIds),
      db.operationApproval.findMany({
        where: { accountId, operationId: { in: [...operationIds] } },
        orderBy: { createdAt: 'asc' },
        take: maxStoryRows,
      }),
      queries.listMatchStories(db, accountId, expectedPaymentIds),
      queries.listEventStories(db, accountId, subject.resources),
      queries.listPaymentFactStories(db, accountId, expectedPaymentIds),
    ]);
    const nsus = [...new Set(matches.map(({ nsu }) => nsu))];
    const ofBreaks = {
      expectedPaymentIds,
      operationIds,
      nsus: [...nsus, originalNsu ?? []].flat(),
    };
    const eventIds = events.map(({ id }) => id);
    const [breaks, deliveries, webhooks, refunds] = await Promise.all([
      queries.listBreakStories(db, accountId, ofBreaks),
      queries.listDeliveryStories(db, accountId, eventIds),
      this.readWebhooks(accountId, subject, nsus),
      db.refund.findMany({ where: { accountId, id: { in: [...refundIds] } } }),
    ]);
    return {
      ...{ operations, attempts, decisions, matches, breaks, webhooks, events, deliveries },
      ...{ paymentFacts, refunds },
    };
  }

  private async readWebhooks(
    accountId: number,
    { correlationIds = [], endToEndIds = [] }: StorySubject,
    nsus: readonly bigint[],
  ) {
    const db = this.database.prisma;
    const where = { accountId, nsu: { in: [...nsus] } };
    const lines = await db.statementLine.findMany({ where, select: { endToEndId: true } });
    const ofLines = lines.map(({ endToEndId }) => endToEndId);
    const known = [...ofLines, ...endToEndIds].filter((id) => id !== null);
    return queries.listWebhookStories(db, accountId, {
      ...{ correlationIds, nsus },
      endToEndIds: [...new Set(known)],
    });
  }
}
