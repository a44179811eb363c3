// What an alert is about, in words and as a page of the console: one table for messages and pages.
// Days and times are of São Paulo.
import { parsePlainDate } from '../../brazil/calendar.js';
import { printDay, printTime } from '../../brazil/printed-text.js';
import { nameOfKind } from '../../reconciliation/decide/break-kinds.js';
import type { DebitRow } from '../../reconciliation/decide/debit-notice.js';
import type { AlertDetail } from './alerts.schema.js';

export type MessageLanguage = 'pt' | 'en';
type Texts = readonly [pt: string, en: string];

const inLanguage = (texts: Texts, language: MessageLanguage): string =>
  texts[language === 'pt' ? 0 : 1];

const debitTexts: Record<DebitRow, Texts> = {
  earlier: ['de antes, sem explicação', 'of earlier, without an explanation'],
  own_id: ['favorecido ou valor difere da nossa operação', 'its payee or amount differs from ours'],
  second_debit: ['segundo débito de uma operação', 'a second debit of one operation'],
  operation: ['aguarda explicação', 'waits for its explanation'],
  refund: ['devolução que não pedimos', 'a refund that we did not request'],
  reversal: ['o banco estornou um crédito', 'the bank reversed a credit'],
  fee: ['tarifa do banco', 'a fee of the bank'],
  own_account: ['para uma conta do mesmo titular', 'to an account of the same holder'],
  declared: ['declarado só em parte', 'declared only in part'],
  declared_type: ['tipo declarado', 'of a declared type'],
  unexplained: ['ninguém pediu', 'nobody requested it'],
};

/** What the table of debits found. */
export const debitText = (row: DebitRow, language: MessageLanguage): string =>
  inLanguage(debitTexts[row], language);

/** The fields of a detail that only say more about the subject that another field names. */
type PartOfSubject = 'breakId' | 'openedAt' | 'expected' | 'hours' | 'deliveries' | 'debit';
type SubjectField = Exclude<keyof AlertDetail, PartOfSubject>;

interface AlertSubject<Field extends SubjectField> {
  texts: (value: Exclude<AlertDetail[Field], undefined>, detail: AlertDetail) => Texts;
  /** Below the account. */
  page: (value: Exclude<AlertDetail[Field], undefined>, detail: AlertDetail) => string;
}

/** By the field that names it: the first one that a detail has. */
const subjects: { readonly [Field in SubjectField]: AlertSubject<Field> } = {
  breakKind: {
    texts: (kind) => [nameOfKind(kind, 'pt'), nameOfKind(kind, 'en')],
    page: (_, { breakId }) => (breakId === undefined ? 'breaks' : `breaks/${breakId}`),
  },
  operatorId: {
    texts: () => ['Uma pessoa entrou com senha', 'A person signed in with a password'],
    page: () => 'audit',
  },
  operationId: {
    texts: () => ['Pagamento aguarda aprovação', 'A payment awaits approval'],
    page: () => 'approvals',
  },
  notGuardedSince: {
    texts: (since) => {
      const time = printTime(new Date(since));
      return [`Conta sem monitoramento desde ${time}`, `Account not guarded since ${time}`];
    },
    page: () => 'today',
  },
  debits: {
    texts: (count) => [
      `Débitos de antes, sem explicação: ${count}`,
      `Earlier debits without an explanation: ${count}`,
    ],
    page: () => 'breaks',
  },
  nsu: {
    texts: (nsu, { debit = 'operation' }) => [
      `Débito ${nsu}: ${debitText(debit, 'pt')}`,
      `Debit ${nsu}: ${debitText(debit, 'en')}`,
    ],
    page: (nsu, { debit }) => (debit === undefined ? `statement/${nsu}` : `alarms/${nsu}`),
  },
  month: {
    texts: (month) => [
      `Mês ${month.slice(5)}/${month.slice(0, 4)} não fechado`,
      `Month ${month} is not closed`,
    ],
    page: (month) => `months/${month}`,
  },
  endpointId: {
    texts: (_, { deliveries = 0 }) => [
      `Entregas sem sucesso em um destino: ${deliveries}`,
      `Dead deliveries of an endpoint: ${deliveries}`,
    ],
    page: (id) => `deliveries?state=dead&endpointId=${id}`,
  },
  day: {
    texts: (day) => {
      const printed = printDay(parsePlainDate(day) ?? day);
      return [`Dia ${printed} sem certificado`, `No certificate for ${printed}`];
    },
    page: () => 'days',
  },
  lost: {
    texts: (lost, { expected = 0, hours = 0 }) => [
      `${lost} de ${expected} lançamentos sem webhook em ${hours} h`,
      `${lost} of ${expected} lines without a webhook in ${hours} h`,
    ],
    page: () => 'webhook-health',
  },
  lastSyncAt: {
    texts: (at) => {
      if (at === null) return ['Extrato nunca sincronizado', 'Statement never synced'];
      const time = printTime(new Date(at));
      return [`Última sincronização do extrato: ${time}`, `Last statement sync: ${time}`];
    },
    page: () => 'today',
  },
};

interface DescribedSubject {
  texts: Texts;
  page: string;
}

function subjectOf(detail: AlertDetail): DescribedSubject {
  const fields = Object.keys(subjects) as SubjectField[];
  const [found] = fields.flatMap((field) => describe(field, detail) ?? []);
  return found ?? { texts: ['Alerta', 'Alert'], page: 'alerts' };
}

function describe<Field extends SubjectField>(
  field: Field,
  detail: AlertDetail,
): DescribedSubject | null {
  const value = detail[field];
  if (value === undefined) return null;
  const { texts, page } = subjects[field];
  return { texts: texts(value as never, detail), page: page(value as never, detail) };
}

export const describeSubject = (detail: AlertDetail, language: MessageLanguage): string =>
  inLanguage(subjectOf(detail).texts, language);

/** The page of the console about what an alert found; `linkBase` is the account there. */
export const linkOf = (detail: AlertDetail, linkBase: string): string =>
  `${linkBase}/${subjectOf(detail).page}`;
