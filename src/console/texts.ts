// Every text of the console, in Portuguese and in English. A text that is missing in one language
// does not compile, and a page without a key in these lists does not either.
import { appTexts } from './texts/app.js';
import { approvalsTexts } from './texts/approvals.js';
import { breakWordsTexts } from './texts/break-words.js';
import { breaksTexts } from './texts/breaks.js';
import { payerTexts } from './texts/payer.js';
import { filesTexts } from './texts/files.js';
import { firstStepsTexts } from './texts/first-steps.js';
import { expectedPaymentTexts } from './texts/expected-payments.js';
import { daysTexts } from './texts/days.js';
import { alertsTexts } from './texts/alerts.js';
import { connectionsTexts } from './texts/connections.js';
import { languages, type Language } from './texts/languages.js';
import { journalTexts } from './texts/journal.js';
import { monthsTexts } from './texts/months.js';
import { moneyTexts } from './texts/money.js';
import { paymentRulesTexts } from './texts/payment-rules.js';
import { paymentsTexts } from './texts/payments.js';
import { peopleTexts } from './texts/people.js';
import { settingsTexts } from './texts/settings.js';
import { ruleBuilderTexts } from './texts/rule-builder.js';
import { rulesTexts } from './texts/rules.js';
import { ruleTrialTexts } from './texts/rule-trials.js';
import { searchTexts } from './texts/search.js';
import { tariffsTexts } from './texts/tariffs.js';
import { todayTexts } from './texts/today.js';
import { wordTexts } from './texts/words.js';

/** The lists of the areas of the console. No two have the same key. */
const lists = {
  ...appTexts,
  ...wordTexts,
  ...peopleTexts,
  ...todayTexts,
  ...breaksTexts,
  ...payerTexts,
  ...filesTexts,
  ...settingsTexts,
  ...firstStepsTexts,
  ...approvalsTexts,
  ...moneyTexts,
  ...paymentRulesTexts,
  ...breakWordsTexts,
  ...expectedPaymentTexts,
  ...rulesTexts,
  ...ruleBuilderTexts,
  ...ruleTrialTexts,
  ...searchTexts,
  ...paymentsTexts,
  ...daysTexts,
  ...connectionsTexts,
  ...alertsTexts,
  ...tariffsTexts,
  ...monthsTexts,
  ...journalTexts,
} as const;

export type TextKey = keyof typeof lists;
export const texts: Readonly<Record<TextKey, readonly [pt: string, en: string]>> = lists;

/** The text of a key, with its values filled in. */
export type Translate = (key: TextKey, values?: Record<string, string | number>) => string;

export function translateInto(language: Language): Translate {
  const index = languages.indexOf(language) as 0 | 1;
  return (key, values = {}) =>
    texts[key][index].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}

/** The key of a value that comes from the database, such as the kind of a break. */
export function findTextKey(key: string): TextKey | null {
  return Object.hasOwn(texts, key) ? (key as TextKey) : null;
}

/** The text of a stored value, such as a kind; `other` where it is of a later version. */
export function wordOf(t: Translate, prefix: string, value: string, other?: TextKey): string {
  const key = findTextKey(`${prefix}.${value}`) ?? other;
  return key ? t(key) : value;
}
