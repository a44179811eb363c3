// The text of messages about alerts, in Portuguese and English. It has ids, kinds, amounts, ages,
// the slug of the account and links, and no personal data. Days and times are of São Paulo.
import { printReais, printTime } from '../../brazil/printed-text.js';
import { severities, type Severity } from '../../reconciliation/breaks/severity.js';
import { describeSubject, linkOf, type MessageLanguage } from './alert-subject.js';
import type { AlertDetail } from './alerts.schema.js';

export interface NamedAlert {
  alertId: string;
  severity: Severity;
  /** As text: JSON has no bigint. Null if unknown. */
  amountCents: string | null;
  firedAt: string;
  detail: AlertDetail;
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
    linkOf(detail, linkBase),
  ].join(' · ');
}

/** Slack reads these characters as markup, such as a mention of a whole channel. */
export function slackText(message: GroupedMessage, language: MessageLanguage): string {
  const text = `${titleOf(message, language)}\n${bodyOf(message, language)}`;
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
