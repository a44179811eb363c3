// Answers what a list declares: as a page with the views that were saved of it, or as a file, which
// the audit records.
import { Injectable } from '@nestjs/common';
import { Audit } from '../../access/people/audit.service.js';
import { SavedViews } from '../../access/people/saved-views.service.js';
import { AppError } from '../../platform/errors.js';
import { Database } from '../../platform/postgres/database.service.js';
import { csvFile } from '../../reporting/exports/csv-file.js';
import { FileStreams } from '../../reporting/exports/file-streams.service.js';
import { Download, type DeclaredList, type Shown } from '../page.js';
import { accountOf, sessionOf, type Visit } from '../visit.js';

@Injectable()
export class ListAnswers {
  constructor(
    private readonly views: SavedViews,
    private readonly audit: Audit,
    private readonly database: Database,
    private readonly files: FileStreams,
  ) {}

  async answer(visit: Visit, list: DeclaredList): Promise<Shown | Download> {
    const { accountId } = visit;
    const { name } = list.options;
    if (visit.query.get('file') === 'csv') return this.download(visit, list, name);
    return list.page(await this.views.list(accountId, name, sessionOf(visit).operatorId));
  }

  private async download(visit: Visit, list: DeclaredList, name: string): Promise<Download> {
    if (!visit.may('take files')) throw new AppError('forbidden');
    const { id: accountId, slug } = accountOf(visit);
    const { operatorId } = sessionOf(visit);
    await this.audit.record(this.database.prisma, {
      ...{ operatorId, accountId, action: 'take file', subject: `file ${name}` },
    });
    const { body, contentType, ...opened } = await this.files.open(accountId, async () => {
      const { table, chunks } = await list.file();
      // As spreadsheets of the reader's country read numbers.
      const file = csvFile(table, visit.language === 'pt' ? 'semicolon' : 'comma');
      return this.files.stream(`concilia-${slug}-${name.replaceAll('/', '-')}`, file, chunks);
    });
    return new Download(body, opened.name, contentType);
  }
}
