// Keeps PostgreSQL's statistics near the size of tables that grow fast. PostgreSQL looks at most
// once a minute whether a table needs new ones. Until then it plans for a table that is empty,
// where every index seems equally good: during the first import of an account, statements that read
// a row by its key would read thousands.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { Every } from '../../queue/timers.js';
import { analyzeTable, listGrownTables } from './table-statistics.queries.js';

@Injectable()
export class TableStatistics {
  constructor(private readonly database: Database) {}

  /** A table is analysed each time that it has quadrupled, so seldom where it is large. */
  @Every('table-statistics', 5)
  async renew(): Promise<void> {
    const { pool, prisma } = this.database;
    for (const name of await listGrownTables(prisma)) await analyzeTable(pool, name);
  }
}
