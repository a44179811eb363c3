// What the monthly report says, in Portuguese: the page and the PDF file show the same texts.
import { printCount, printDay, printReais, printTime } from '../../brazil/printed-text.js';
import { nameOfKind } from '../../reconciliation/decide/break-kinds.js';
import { addMoney, isExplained, netOf, type LineSums, type ReportDay } from './month-days.js';
import { ages, type MonthFigures, type MoneyGroup } from './month-figures.js';

/** What stands out: a total, what is wrong, what is not over. */
type Tone = 'total' | 'bad' | 'plain';
export type ReportCell = string | { text: string; tone: Tone };
export interface ReportColumn {
  title: string;
  is: 'text' | 'number' | 'code';
}
export interface ReportSection {
  title: string;
  /** What a reader must know of the table. */
  note?: string;
  columns: readonly ReportColumn[];
  rows: readonly (readonly ReportCell[])[];
  /** In place of a table without rows. */
  empty?: string;
}

export interface ReportTexts {
  title: string;
  account: string;
  issued: string;
  facts: readonly (readonly [name: string, value: string])[];
  sections: readonly ReportSection[];
  foot: string;
}

const months = [
  ...['janeiro', 'fevereiro', 'março', 'abril', 'maio', 'junho'],
  ...['julho', 'agosto', 'setembro', 'outubro', 'novembro', 'dezembro'],
];

/** `novembro de 2026`. */
export const nameOfMonth = (month: string): string =>
  `${months[Number(month.slice(5)) - 1]} de ${month.slice(0, 4)}`;

export const moneyGroupNames: Readonly<Record<MoneyGroup, string>> = {
  received: 'Recebido',
  refunds: 'Devolvido a quem pagou',
  payments: 'Pago',
  returned: 'Pagamentos que voltaram',
  fees: 'Tarifas',
  ownTransfers: 'Transferências entre contas próprias',
  ignored: 'Ignorado por regra ou por pessoa',
  accepted: 'Aceito sem vínculo',
  beforeGoLive: 'Anterior ao início do uso',
  unexplained: 'Em divergência',
  pending: 'Pendente',
};

export const ageNames = ages.map((most, index) =>
  most === Infinity
    ? `Mais de ${ages[index - 1]} dias`
    : `${index === 0 ? 0 : ages[index - 1]! + 1} a ${most} dias`,
);

export function reportTexts(figures: MonthFigures): ReportTexts {
  const { slug, month, generatedAt, openingCents, closingCents, lines } = figures;
  return {
    title: `Fechamento de ${nameOfMonth(month)}`,
    account: slug,
    issued: `emitido em ${printTime(generatedAt)} (horário de São Paulo)`,
    facts: [
      ['Saldo inicial', printReais(openingCents)],
      ['Créditos', printReais(figures.creditCents)],
      ['Débitos', printReais(-figures.debitCents)],
      ['Saldo final', printReais(closingCents)],
      ['Lançamentos', printCount(lines)],
    ],
    sections: [moneySection(figures), breakSection(figures), daySection(figures)],
    foot:
      'Cada dia do extrato vai das 03:00 às 03:00 UTC. O código do certificado é o seu SHA-256 ' +
      'na cadeia de fechamentos da conta. Certificado prova que o dia está completo; explicado, ' +
      'que nenhum lançamento do dia está pendente ou em divergência.',
  };
}

function moneySection({ groups, ...total }: MonthFigures): ReportSection {
  const row = (name: string, money: LineSums, tone: Tone = 'plain'): ReportCell[] =>
    [
      name,
      printCount(money.lines),
      printReais(money.creditCents),
      printReais(-money.debitCents),
      printReais(netOf(money)),
    ].map((text) => (tone === 'plain' ? text : { text, tone }));
  const of = (...some: MoneyGroup[]) => some.map((one) => row(moneyGroupNames[one], groups[one]));
  const { received, refunds, payments, returned } = groups;
  return {
    title: 'Composição do mês',
    note:
      `Saldo inicial ${printReais(total.openingCents)} mais o total do mês ` +
      `${printReais(netOf(total))} é o saldo final ${printReais(total.closingCents)}.`,
    columns: [
      { title: 'Grupo', is: 'text' },
      ...['Lançamentos', 'Créditos', 'Débitos', 'Líquido'].map((title): ReportColumn => ({
        title,
        is: 'number',
      })),
    ],
    rows: [
      ...of('received', 'refunds'),
      row('Recebido, líquido de devoluções', addMoney(received, refunds), 'total'),
      ...of('payments', 'returned'),
      row('Pago, líquido do que voltou', addMoney(payments, returned), 'total'),
      ...of('fees', 'ownTransfers', 'ignored', 'accepted', 'beforeGoLive'),
      ...of('unexplained', 'pending'),
      row('Total do mês', total, 'total'),
    ],
  };
}

function breakSection({ breaks, today }: MonthFigures): ReportSection {
  const titles = ['Abertas', 'Do mês', ...ageNames, 'Créditos', 'Débitos'];
  return {
    title: 'Divergências em aberto',
    note:
      `Do mês e de dias anteriores. A idade, em ${printDay(today)}, conta do dia do lançamento; ` +
      'sem lançamento, do vencimento ou da abertura.',
    columns: [
      { title: 'Divergência', is: 'text' },
      ...titles.map((title): ReportColumn => ({ title, is: 'number' })),
    ],
    rows: breaks.map((one) => [
      nameOfKind(one.kind, 'pt'),
      ...[one.breaks, one.ofMonth, ...one.byAge].map(printCount),
      printReais(one.creditCents),
      printReais(-one.debitCents),
    ]),
    empty: 'Nenhuma divergência em aberto.',
  };
}

function daySection({ days, today }: MonthFigures): ReportSection {
  const certified = days.filter(({ certificate }) => certificate?.agrees);
  const both = certified.filter(isExplained);
  return {
    title: 'Dias',
    note:
      `${certified.length} de ${days.length} dias certificados; ` +
      `${both.length} certificados e explicados.`,
    columns: [
      { title: 'Dia', is: 'text' },
      ...['Lançamentos', 'Créditos', 'Débitos', 'Saldo final'].map((title): ReportColumn => ({
        title,
        is: 'number',
      })),
      { title: 'Situação', is: 'text' },
      { title: 'Certificado', is: 'code' },
    ],
    rows: days.map((day) => [
      printDay(day.day),
      printCount(day.lines),
      printReais(day.creditCents),
      printReais(-day.debitCents),
      printReais(day.closingCents),
      stateOfDay(day, today),
      day.certificate?.hash ?? '',
    ]),
  };
}

function stateOfDay(day: ReportDay, today: string): ReportCell {
  const { certificate, inBreak, pending } = day;
  if (certificate === null && day.day >= today) return 'Dia em curso';
  const amended = certificate ? certificate.revision - 1 : 0;
  const words = [
    certificate === null ? 'Sem certificado' : 'Certificado',
    ...(amended > 0 ? [` (retificação ${amended})`] : []),
    ...(certificate?.agrees === false ? [', difere do extrato'] : []),
    ...(certificate?.agrees && isExplained(day) ? [' e explicado'] : []),
    ...(inBreak > 0n ? [`, ${printCount(inBreak)} em divergência`] : []),
    ...(pending > 0n
      ? [`, ${pending === 1n ? '1 pendente' : `${printCount(pending)} pendentes`}`]
      : []),
  ];
  const isGood = certificate?.agrees === true && isExplained(day);
  return isGood ? words.join('') : { text: words.join(''), tone: 'bad' };
}
