// One day: its certificate, whether it holds, and its lines by outcome.
import { Controller } from '@nestjs/common';
import { addDays, parsePlainDate, type PlainDate } from '../../brazil/calendar.js';
import { DayCheck } from '../../reporting/day-closes/day-check.service.js';
import { DayCloses } from '../../reporting/day-closes/day-closes.service.js';
import { WaitingDays } from '../../reporting/day-closes/waiting-days.service.js';
import { AppError } from '../../platform/errors.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { formatDay } from '../formats.js';
import { Message } from '../kit/elements.js';
import { Download, Shown, type PageAnswer } from '../page.js';
import { accountOf, type Visit } from '../visit.js';
import { CertifiedDay } from './certified-day.js';
import { DaysWaiting } from './day-elements.js';
import { DayFiles } from './day-files.service.js';

const changesShown = 50;

@Controller()
export class DayPage {
  constructor(
    private readonly dayCloses: DayCloses,
    private readonly check: DayCheck,
    private readonly waiting: WaitingDays,
    private readonly files: DayFiles,
  ) {}

  @ConsolePage('days/:day', 'view')
  async show(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { t, language, query } = visit;
    const { id } = accountOf(visit);
    const date = readDay(visit);
    const title = t('days.one', { day: formatDay(date, language) });
    const found = await this.find(id, date);
    if (!found) return this.showWaiting(visit, date, title);
    const [changes, checked] = await Promise.all([
      this.dayCloses.listChanges(id, date, { limit: changesShown }),
      query.has('check') ? this.check.check(id, date) : null,
    ]);
    const unexplained = (await this.dayCloses.countUnexplained(id, [date])).get(date);
    const neighbours = { before: addDays(date, -1), after: addDays(date, 1) };
    const body = (
      <CertifiedDay
        {...{ checked, neighbours, unexplained }}
        day={found}
        changes={[...changes.data]}
      />
    );
    return new Shown(title, body);
  }

  /** The exact text of a revision; of the last one by default. */
  @ConsolePage('days/:day/certificate', 'view')
  async certificate(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { id, slug } = accountOf(visit);
    const date = readDay(visit);
    const { revisions } = await this.dayCloses.get(id, date);
    const wanted = visit.query.get('revision');
    const found = wanted
      ? revisions.find(({ revision }) => String(revision) === wanted)
      : revisions.at(-1);
    if (!found) throw new AppError('not_found');
    const { revision, certificate } = found;
    const { body, name, contentType } = this.files.openCertificate(
      ...([slug, date, revision, certificate] as const),
    );
    return new Download(body, name, contentType);
  }

  private async find(accountId: number, date: PlainDate) {
    try {
      return await this.dayCloses.get(accountId, date);
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return null;
      throw error;
    }
  }

  /** A day that may still get a certificate says what it waits for. */
  private async showWaiting(visit: Visit, date: PlainDate, title: string): Promise<PageAnswer> {
    const waiting = await this.waiting.find(visit.accountId);
    const isToCome = waiting.date === null || date >= waiting.date;
    if (!isToCome) throw new AppError('not_found');
    const body = (
      <>
        {date !== waiting.date && <Message kind="warn">{visit.t('days.notCertifiedYet')}</Message>}
        <DaysWaiting waiting={waiting} />
      </>
    );
    return new Shown(title, body);
  }
}

function readDay({ params }: Visit): PlainDate {
  const date = parsePlainDate(params.day ?? '');
  if (date === null) throw new AppError('not_found');
  return date;
}
