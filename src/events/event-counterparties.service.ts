// Adds the counterparty to events that report a line, when they are shown or delivered. Events
// store the nsu only: an erasure of the line covers them, and each caller sees what it may see.
import { Injectable } from '@nestjs/common';
import {
  counterpartyIn,
  findCounterparties,
} from '../access/counterparties/counterparties.queries.js';
import { shownCounterparty } from '../access/counterparties/counterparty.schema.js';
import { Database } from '../platform/postgres/database.service.js';
import type { Event } from '../generated/service/client.js';
import { nsuOfEvent, withCounterparty } from './event.js';

@Injectable()
export class EventCounterparties {
  constructor(private readonly database: Database) {}

  /** The data of each event, as exact JSON. Events without a line are unchanged. */
  async addTo<Row extends Pick<Event, 'data'>>(
    accountId: number,
    events: readonly Row[],
    isVisible: boolean,
  ): Promise<Row[]> {
    const nsus = events.map(({ data }) => nsuOfEvent(data));
    const found = await findCounterparties(
      this.database.prisma,
      accountId,
      nsus.flatMap((nsu) => nsu ?? []),
    );
    return events.map((event, index) => {
      const nsu = nsus[index] ?? null;
      if (nsu === null) return event;
      const counterparty = shownCounterparty(counterpartyIn(found, nsu), isVisible);
      return { ...event, data: withCounterparty(event.data, counterparty) };
    });
  }
}
