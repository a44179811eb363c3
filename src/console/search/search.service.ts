// Runs the look-ups of a search, and arranges what they find.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import { PixLookupsService } from '../../outbound/transfers/pix-lookups.service.js';
import { searchBreaks, searchLines, searchOperations, searchPayments } from './search.queries.js';
import type { FoundRecords } from './search-hits.js';
import type { SearchTerms } from './search-terms.js';

@Injectable()
export class RecordSearch {
  constructor(
    private readonly database: Database,
    private readonly pixLookups: PixLookupsService,
  ) {}

  /** A complete id finds its record alone. Where it finds none, it may be how an id begins. */
  async find(accountId: number, terms: SearchTerms): Promise<FoundRecords> {
    const found = await this.lookUp(accountId, { ...terms, beginning: null });
    const isFound = Object.values(found).some(({ length }) => length > 0);
    return isFound || terms.beginning === null ? found : this.lookUp(accountId, terms);
  }

  /** Every look-up reads an index, and a few rows of it. */
  private async lookUp(accountId: number, terms: SearchTerms): Promise<FoundRecords> {
    const { prisma } = this.database;
    // A CPF or CNPJ may be a Pix key, too.
    const keys = [terms.pixKey, terms.taxId].filter((key) => key !== null);
    const ofKeys = await Promise.all(
      keys.map((key) => this.pixLookups.listOperationIds(accountId, key)),
    );
    const [payments, lines, operations] = await Promise.all([
      searchPayments(prisma, accountId, terms, ofKeys.flat()),
      searchLines(prisma, accountId, terms),
      searchOperations(prisma, accountId, terms),
    ]);
    const breaks = await searchBreaks(prisma, accountId, terms, {
      nsus: lines.map(({ nsu }) => nsu),
      expectedPaymentIds: payments.map(({ id }) => id),
      operationIds: operations.map(({ id }) => id),
    });
    return { payments, lines, operations, breaks };
  }
}
