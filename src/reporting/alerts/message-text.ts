// The text of messages about alerts, in Portuguese and English. It has ids, kinds, amounts, ages,
// the slug of the account and links, and no personal data. Days and times are of São Paulo.
import { printDay, printReais, printTime } from '../../brazil/printed-text.js';
import { severities, type Severity } from '../../reconciliation/breaks/severity.js';
import type { DebitRow } from '../../reconciliation/decide/debit-notice.js';
import { nameOfKind } from '../../reconciliation/decide/break-kinds.js';

export type MessageLanguage = 'pt' | 'en';

export interface NamedAlert {
  alertId: string;
  severity: Severity;
  /** As text: JSON has no bigint. Null if unknown. */
  amountCents: string | null;
  firedAt: string;
  detail: {
    breakId?: string | undefined;
    breakKind?: string | undefined;
    expected?: number | undefined;
    lost?: number | undefined;
    hours?: number | undefined;
    endpointId?: string | undefined;
    deliveries?: number | undefined;
    lastSyncAt?: string | null | undefined;
    notGuardedSince?: string | undefined;
    day?: string | undefined;
    operationId?: string | undefined;
    nsu?: string | undefined;
    debit?: DebitRow | undefined;
    debits?: number | undefined;
    operatorId?: string | undefined;
    month?: string | undefined;
  };
}

export interface GroupedMessage {
  kind: 'fired' | 'cleared' | 'reminder' | 'escalated' | 'test';
  /** Of the account. */
  slug: string;
  rule: { id: string; name: string };
  count: number;
  /** Null if no amount is known. */
  amountCents: bigint | null;
  withoutAmount: number;
  severities: Partial<Record<Severity, number>>;
  alerts: readonly NamedAlert[];
  /** The pages of the account in the console, without a slash at its end. */
  linkBase: string;
}

const severitiesFromTop = severities.toReversed();

const words = {
  pt: {
    fired: ['1 alerta', (count: string) => `${count} alertas`],
    cleared: ['1 alerta encerrado', (count: string) => `${count} alertas encerrados`],
    reminder: ['1 alerta não reconhecido', (count: string) => `${count} alertas não reconhecidos`],
    escalated: ['1 alerta sem resposta', (count: string) => `${count} alertas sem resposta`],
    test: 'mensagem de teste',
    severity: { critical: 'crítica', high: 'alta', medium: 'média', low: 'baixa' },
    rule: 'Regra',
    account: 'Conta',
    total: 'Total',
    severityTitle: 'Gravidade',
    withoutAmount: (count: number) => `${count} sem valor conhecido`,
    since: (time: string) => `desde ${time}`,
    more: (count: number) => `e mais ${count}`,
    all: 'Todos',
  },
  en: {
    fired: ['1 alert', (count: string) => `${count} alerts`],
    cleared: ['1 alert cleared', (count: string) => `${count} alerts cleared`],
    reminder: ['1 alert not acknowledged', (count: string) => `${count} alerts not acknowledged`],
    escalated: [
      '1 alert without an answer',
      (count: string) => `${count} alerts without an answer`,
    ],
    test: 'test message',
    severity: { critical: 'critical', high: 'high', medium: 'medium', low: 'low' },
    rule: 'Rule',
    account: 'Account',
    total: 'Total',
    severityTitle: 'Severity',
    withoutAmount: (count: number) => `${count} without a known amount`,
    since: (time: string) => `since ${time}`,
    more: (count: number) => `and ${count} more`,
    all: 'All',
  },
} as const;

/** Line breaks and control characters would begin another header or line. */
export function singleLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** One line: the subject of an e-mail. */
export function titleOf(message: GroupedMessage, language: MessageLanguage): string {
  const { slug, rule, amountCents } = message;
  const amount = amountCents === null ? '' : `, ${printReais(amountCents)}`;
  const name = message.kind === 'test' ? '' : ` (${rule.name})`;
  return singleLine(`[Concilia] ${slug}: ${phraseOf(message, language)}${amount}${name}`);
}

function phraseOf({ kind, count }: GroupedMessage, language: MessageLanguage): string {
  if (kind === 'test') return words[language].test;
  const [one, many] = words[language][kind];
  return count === 1 ? one : many(String(count));
}

export function bodyOf(message: GroupedMessage, language: MessageLanguage): string {
  const { slug, rule, alerts, count, linkBase, kind } = message;
  const word = words[language];
  const account = `${word.account}: ${singleLine(slug)}`;
  if (kind === 'test') return `${phraseOf(message, language)}\n${account}\n`;
  const more = count > alerts.length ? [word.more(count - alerts.length)] : [];
  return [
    `${word.rule}: ${singleLine(rule.name)}`,
    account,
    `${phraseOf(message, language)}${totalOf(message, language)}`,
    ...severityLine(message, language),
    '',
    ...alerts.map((alert) => `- ${lineOf(alert, message, language)}`),
    ...more,
    '',
    `${word.all}: ${linkBase}/alerts?ruleId=${rule.id}`,
    '',
  ].join('\n');
}

function severityLine({ severities: counts }: GroupedMessage, language: MessageLanguage): string[] {
  const { severity: names, severityTitle } = words[language];
  const shown = severitiesFromTop.flatMap((one) =>
    counts[one] ? [`${names[one]} ${counts[one]}`] : [],
  );
  return shown.length > 0 ? [`${severityTitle}: ${shown.join(', ')}`] : [];
}

function totalOf(
  { amountCents, withoutAmount }: GroupedMessage,
  language: MessageLanguage,
): string {
  const { total, withoutAmount: without } = words[language];
  if (amountCents === null) return '';
  const rest = withoutAmount > 0 ? ` (${without(withoutAmount)})` : '';
  return `. ${total}: ${printReais(amountCents)}${rest}`;
}

function lineOf(
  alert: NamedAlert,
  { linkBase }: GroupedMessage,
  language: MessageLanguage,
): string {
  const { severity, since } = words[language];
  const { amountCents, firedAt, detail } = alert;
  return [
    severity[alert.severity],
    describeSubject(detail, language),
    ...(amountCents === null ? [] : [printReais(BigInt(amountCents))]),
    since(printTime(new Date(firedAt))),
    linkOf(alert, linkBase),
  ].join(' · ');
}

/** The page of the console about what an alert found; `linkBase` is the account there. */
export function linkOf({ detail }: Pick<NamedAlert, 'detail'>, linkBase: string): string {
  return `${linkBase}/${pageOf(detail)}`;
}

function pageOf(detail: NamedAlert['detail']): string {
  if (detail.breakId !== undefined) return `breaks/${detail.breakId}`;
  if (detail.operationId !== undefined) return 'approvals';
  if (detail.debit !== undefined) return `alarms/${detail.nsu}`;
  if (detail.nsu !== undefined) return `statement/${detail.nsu}`;
  if (detail.debits !== undefined) return 'breaks';
  if (detail.endpointId !== undefined)
    return `deliveries?state=dead&endpointId=${detail.endpointId}`;
  if (detail.day !== undefined) return 'days';
  if (detail.operatorId !== undefined) return 'audit';
  if (detail.month !== undefined) return `months/${detail.month}`;
  return detail.lost !== undefined ? 'webhook-health' : 'today';
}

const debitTexts: Record<DebitRow, readonly [pt: string, en: string]> = {
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
  debitTexts[row][language === 'pt' ? 0 : 1];

/** What the alert is about. */
function describeSubject(detail: NamedAlert['detail'], language: MessageLanguage): string {
  const isPt = language === 'pt';
  const { breakKind, endpointId, deliveries, day, lost, expected, hours, lastSyncAt } = detail;
  const { operationId, nsu, operatorId, month, debit, debits, notGuardedSince } = detail;
  if (operatorId !== undefined)
    return isPt
      ? `a pessoa ${operatorId} entrou com senha`
      : `person ${operatorId} signed in with a password`;
  if (operationId !== undefined)
    return isPt
      ? `operação ${operationId} aguarda aprovação`
      : `operation ${operationId} awaits approval`;
  if (debit !== undefined)
    return `${isPt ? 'débito' : 'debit'} ${nsu}: ${debitText(debit, language)}`;
  if (notGuardedSince !== undefined) {
    const time = printTime(new Date(notGuardedSince));
    return isPt ? `conta sem guarda desde ${time}` : `account not guarded since ${time}`;
  }
  if (debits !== undefined)
    return isPt
      ? `débitos de antes, sem explicação: ${debits}`
      : `earlier debits without an explanation: ${debits}`;
  if (nsu !== undefined)
    return isPt ? `débito ${nsu} aguarda explicação` : `debit ${nsu} waits for its explanation`;
  if (month !== undefined)
    return isPt
      ? `mês ${month.slice(5)}/${month.slice(0, 4)} não fechado`
      : `month ${month} is not closed`;
  if (breakKind !== undefined) return nameOfKind(breakKind, language);
  if (endpointId !== undefined)
    return isPt
      ? `entregas sem sucesso no destino ${endpointId}: ${deliveries}`
      : `dead deliveries of endpoint ${endpointId}: ${deliveries}`;
  if (day !== undefined)
    return isPt ? `dia ${printDay(day)} sem certificado` : `no certificate for ${printDay(day)}`;
  if (lost !== undefined)
    return isPt
      ? `${lost} de ${expected} lançamentos sem webhook em ${hours} h`
      : `${lost} of ${expected} lines without a webhook in ${hours} h`;
  if (lastSyncAt) {
    const time = printTime(new Date(lastSyncAt));
    return isPt ? `última sincronização do extrato: ${time}` : `last statement sync: ${time}`;
  }
  return isPt ? 'extrato nunca sincronizado' : 'statement never synced';
}

/** Slack reads these characters as markup, such as a mention of a whole channel. */
export function slackText(message: GroupedMessage, language: MessageLanguage): string {
  const text = `${titleOf(message, language)}\n${bodyOf(message, language)}`;
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
