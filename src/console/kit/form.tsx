// A form by its fields: shows what is stored, or what was typed before it was refused, reads it for
// the schema that the API has for the same request, and says beside each field what is wrong.
import type { ComponentChildren, JSX } from 'preact';
import type { z } from 'zod';
import type { FieldError, FieldErrors } from '../../bank-contract/field-errors.js';
import { AppError, refuseInvalid } from '../../platform/errors.js';
import { decode } from '../../platform/http/contract-route.js';
import { fieldErrorIn, problemKey } from '../problems.js';
import { pageField } from '../requests.js';
import { typed, useVisit, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';
import { typedNumber } from '../typed-amount.js';
import { typedDay, writeTypedDay, type DayKind } from '../typed-day.js';
import { Card, Message, Hint, Muted } from './elements.js';

export interface FormField {
  label: TextKey;
  hint?: TextKey;
  /**
   * What is typed, and as what the request has it. `amount`: a number of reais. `lines`: a text
   * with line breaks. `list`: words between spaces or commas. `check`: true or false. `choices`:
   * those that are ticked. `radios`: a choice whose options all stand there. `file`: its form has
   * a file. `date`, `month`, `datetime` (without a time zone): see src/console/typed-day.ts.
   * `secret`, `secretLines`: never shown again.
   */
  is?:
    | ('text' | 'email' | 'url' | 'secret' | 'number' | 'amount' | 'date' | 'time' | 'datetime')
    | ('month' | 'file' | 'lines' | 'secretLines' | 'list' | 'check' | 'choice' | 'choices')
    | 'radios';
  /** Of a choice. */
  options?: readonly (readonly [value: string, text: string, hint?: string])[];
  /** Many choices, which are seen when one is ticked or a person asks for them. */
  isFolded?: boolean;
  required?: boolean;
  autofocus?: boolean;
  inputMode?: 'numeric';
  minLength?: number;
  maxLength?: number;
  min?: number;
  max?: number;
  pattern?: string;
  /** Where a key leads to the field: see src/console/keyboard.ts. */
  id?: string;
  /** Of a file. */
  accept?: string;
  autocomplete?: 'username' | 'current-password' | 'new-password' | 'one-time-code';
}
export type FormFields = Readonly<Record<string, FormField>>;
export type FormValues = Readonly<
  Record<string, string | number | bigint | boolean | readonly string[] | null | undefined>
>;

/** The field in which people say why. */
export const reasonField = {
  reason: { label: 'app.reason', required: true, maxLength: 500 },
} as const satisfies FormFields;

/** The body of the request that the form asks for. A field that is empty is left out. */
export function typedBody(visit: Visit, fields: FormFields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, valueOf(visit, name, field)]),
  );
}

/** As `typedBody`, of a form that says all there is: an empty field is null, not left out. */
export function typedWhole(visit: Visit, fields: FormFields): Record<string, unknown> {
  const body = Object.entries(typedBody(visit, fields));
  return Object.fromEntries(body.map(([name, value]) => [name, value ?? null]));
}

function valueOf(visit: Visit, name: string, { is = 'text' }: FormField): unknown {
  if (is === 'check') return visit.form.has(name);
  if (is === 'choices') return visit.form.getAll(name);
  if (is === 'lines' || is === 'secretLines')
    return (visit.form.get(name) ?? '').replace(/(?!\n)\p{Cc}/gu, '').trim() || undefined;
  const text = typed(visit, name);
  if (text === '') return undefined;
  if (is === 'list') return text.split(/[\s,;]+/).filter((one) => one !== '');
  if (isDay(is)) return typedDay(text);
  return is === 'number' || is === 'amount' ? typedNumber(text) : text;
}

/** A form by the schema of the request. Throws `validation_failed`, with its fields' errors. */
export function readBody<Schema extends z.ZodType>(
  schema: Schema,
  given: Record<string, unknown>,
): z.output<Schema> {
  const errors: FieldErrors = {};
  const body = decode(schema, given, errors);
  refuseInvalid(errors);
  return body as z.output<Schema>;
}

/** Of the page that shows the problem of its form. */
export function statusOf(problem: AppError | null): { status?: number; problem?: AppError } {
  return problem ? { status: problem.status, problem } : {};
}

/**
 * The first error of each field; those of no field of the form stand above it. The error of
 * `$.holder.name` is of the field `holderName` where the form has one, else of `name`.
 */
function errorsOf(problem: AppError | null, fields: FormFields) {
  const [own, others] = [new Map<string, FieldError>(), [] as FieldError[]];
  for (const [path, [error = '']] of Object.entries(problem?.details.errors ?? {})) {
    const parts = path.replace(/^\$\.?/, '').split(/[.[\]]+/);
    const name = parts
      .flatMap((part, index) => [part, `${parts[index - 1]}${capitalized(part)}`])
      .findLast((one) => one in fields);
    if (name === undefined) others.push(error);
    else if (!own.has(name)) own.set(name, error);
  }
  return { own, others };
}

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** What is wrong with a form, above it. `area` has words of its own for some reasons. */
export function FormProblem({
  problem = useVisit().problem,
  fields = {},
  area,
}: {
  problem?: AppError | null;
  fields?: FormFields;
  area?: string;
}) {
  const { t, language } = useVisit();
  if (!problem) return null;
  const { own, others } = errorsOf(problem, fields);
  const text =
    own.size > 0
      ? [t('fieldError.summary')]
      : others.length > 0
        ? others.map((error) => fieldErrorIn(language, error))
        : [t(problemKey(problem, area))];
  return <Message kind="bad">{text.join(' ')}</Message>;
}

export interface FieldsProps {
  fields: FormFields;
  /** What is stored. */
  values?: FormValues;
  problem?: AppError | null;
  /**
   * Whether this is the form of the page that was sent: it shows what was typed, and why that was
   * refused. Of a whole form, it is the one with the address that the answer has.
   */
  isSent?: boolean;
}

/** Beside each other where they fit. */
export function Fields({ fields, values = {}, isSent = true, ...props }: FieldsProps) {
  const visit = useVisit();
  const { problem = isSent ? visit.problem : null } = props;
  const { form } = visit;
  const { own } = errorsOf(problem, fields);
  // A tick that was taken away is not sent: another field says whether it is this form that was.
  const isTyped = isSent && Object.keys(fields).some((name) => form.has(name));
  return (
    <div class="fields">
      {Object.entries(fields).map(([name, field]) => (
        <Input {...{ name, field, isTyped }} stored={values[name]} error={own.get(name)} />
      ))}
    </div>
  );
}

interface InputProps {
  name: string;
  field: FormField;
  isTyped: boolean;
  stored: FormValues[string];
  error: FieldError | undefined;
}

const inputTypes = {
  ...{ text: 'text', list: 'text', amount: 'text', secret: 'password', number: 'number' },
  ...{ email: 'email', url: 'url', date: 'text', time: 'time', datetime: 'text' },
  ...{ month: 'text', file: 'file' },
} as const;

const isDay = (is: string): is is DayKind => ['date', 'month', 'datetime'].includes(is);

function Input({ name, field, isTyped, stored, error }: InputProps) {
  const { t, form, language } = useVisit();
  const { label, hint, is = 'text', options = [], autocomplete, ...limits } = field;
  const chosen = isTyped ? form.getAll(name) : [stored ?? []].flat().map(String);
  // A code that was refused is of no use again.
  const isShown = !is.startsWith('secret') && autocomplete !== 'one-time-code';
  const given = isShown ? (chosen[0] ?? '') : '';
  const text = isDay(is) && !isTyped ? writeTypedDay(given, language) : given;
  const described = errorMarks(name, error);
  const named = (input: ComponentChildren, kind?: 'choice') => (
    <label class={kind}>
      {kind === 'choice' && input}
      {t(label)}
      {hint && <Hint> {t(hint)}</Hint>}
      {kind !== 'choice' && input}
      <FieldErrorText {...{ name, error }} />
    </label>
  );
  if (is === 'check') {
    const checked = isTyped ? form.has(name) : stored === true;
    return named(<input {...{ type: 'checkbox', name, value: 'yes', checked }} />, 'choice');
  }
  if (is === 'choices' || is === 'radios') return <Choices {...{ name, field, chosen, error }} />;
  if (is === 'choice')
    return named(
      <select name={name} {...described}>
        {options.map(([value, word]) => (
          <option value={value} selected={value === text}>
            {word}
          </option>
        ))}
      </select>,
    );
  if (is === 'lines' || is === 'secretLines')
    return named(
      <textarea {...{ name, ...described, required: limits.required, spellcheck: false }}>
        {text}
      </textarea>,
    );
  return named(
    <input
      {...{ name, value: text, type: inputTypes[is] as 'text', ...limits, ...described }}
      {...(is === 'amount' ? { inputMode: 'decimal' } : {})}
      {...(isDay(is) ? { placeholder: t(`app.${is}`) } : {})}
      autocomplete={autocomplete ?? 'off'}
    />,
  );
}

function Choices({
  name,
  field: { label, hint, is, options = [], isFolded },
  chosen,
  error,
}: Omit<InputProps, 'isTyped' | 'stored'> & { chosen: readonly string[] }) {
  const { t } = useVisit();
  const type = is === 'choices' ? 'checkbox' : 'radio';
  const choices = (
    <fieldset class="checks">
      <legend>{t(label)}</legend>
      {hint && <Hint>{t(hint)}</Hint>}
      {options.map(([value, word, about]) => (
        <label>
          <input {...{ type, name, value }} checked={chosen.includes(value)} />
          {word}
          {about && <Hint> {about}</Hint>}
        </label>
      ))}
      <FieldErrorText {...{ name, error }} />
    </fieldset>
  );
  if (!isFolded) return choices;
  return (
    <details open={chosen.length > 0 || error !== undefined}>
      <summary>{t(label)}</summary>
      {choices}
    </details>
  );
}

/** What is wrong with a field; nothing for a right one. */
export function FieldErrorText({ name, error }: Pick<InputProps, 'name' | 'error'>) {
  const { language } = useVisit();
  if (error === undefined) return null;
  return (
    <span class="field-error" id={errorId(name)}>
      {fieldErrorIn(language, error)}
    </span>
  );
}

/** The attributes of a field whose error stands beside it. */
export function errorMarks(name: string, error: FieldError | undefined) {
  if (error === undefined) return {};
  return { 'aria-invalid': 'true', 'aria-describedby': errorId(name) } as const;
}

const errorId = (name: string) => `error-${name.replace(/[^\w]/g, '-')}`;

/** Fields that belong together. */
export function FormGroup({
  legend,
  hint,
  children,
}: {
  legend: TextKey;
  hint?: TextKey | undefined;
  children: ComponentChildren;
}) {
  const { t } = useVisit();
  return (
    <fieldset>
      <legend>{t(legend)}</legend>
      {hint && <Hint>{t(hint)}</Hint>}
      {children}
    </fieldset>
  );
}

interface FieldFormProps extends FieldsProps {
  intro?: TextKey | undefined;
  action: string;
  button: TextKey;
  /** The area of the texts that say what is wrong. */
  area?: string;
  /** A version or a hash of what the person sees. The audit records it. */
  shown?: string | undefined;
  hidden?: HiddenValues;
  asksReason?: boolean;
  /** What stands above the fields. */
  children?: ComponentChildren;
}

/** A form that changes something: it carries the token of the session. */
export function Form({
  action,
  shown,
  hasFile = false,
  children,
  ...attributes
}: Omit<JSX.IntrinsicElements['form'], 'class'> & {
  action: string;
  /** A version or a hash of what the person sees. The audit records it. */
  shown?: string;
  /** Its file stands after all other fields, which are checked before it is received. */
  hasFile?: boolean;
  children: ComponentChildren;
}) {
  const visit = useVisit();
  return (
    <form
      {...{ method: 'post', action, ...attributes }}
      encType={hasFile ? 'multipart/form-data' : undefined}
    >
      {visit.csrfToken !== '' && <input type="hidden" name="csrf" value={visit.csrfToken} />}
      {visit.isForm && <input type="hidden" name={pageField} value={visit.cameFrom} />}
      {shown !== undefined && <input type="hidden" name="shown" value={shown} />}
      {children}
    </form>
  );
}

/** A form with all that a form has, where it needs no card of its own. */
export function FieldForm(props: FieldFormProps) {
  const { intro, action, button, area, shown, hidden = {}, children } = props;
  const { values = {}, asksReason = false } = props;
  const visit = useVisit();
  const { t, path } = visit;
  const isOwn = path === action.replace(/\?.*/, '');
  const { isSent = props.problem !== undefined || isOwn } = props;
  const { problem = isSent ? visit.problem : null } = props;
  const fields = asksReason ? { ...props.fields, ...reasonField } : props.fields;
  return (
    <>
      {intro && <Muted>{t(intro)}</Muted>}
      <FormProblem {...{ problem, fields, ...(area === undefined ? {} : { area }) }} />
      <Form action={action} {...(shown === undefined ? {} : { shown })}>
        <Hidden values={hidden} />
        {children}
        <Fields {...{ fields, values, problem, isSent }} />
        <button>{t(button)}</button>
      </Form>
    </>
  );
}

/** A form in a card, without a title where the form is all that the page has. */
export function FormCard({ title, ...form }: FieldFormProps & { title?: TextKey }) {
  return (
    <Card title={title && useVisit().t(title)}>
      <FieldForm {...form} />
    </Card>
  );
}

/** A form that only asks: what is chosen stands in the address of the next page. */
export function AskingForm({ action, children }: { action: string; children: ComponentChildren }) {
  return (
    <form method="get" action={action}>
      {children}
    </form>
  );
}

const monthField = { month: { label: 'word.month', is: 'month' } } as const satisfies FormFields;

/** Asks for the month that the page checks: see `askedMonth`. */
export function MonthCard({ action, month }: { action: string; month: string }) {
  return (
    <Card>
      <AskingForm action={action}>
        <Fields fields={monthField} values={{ month }} isSent={false} />
        <button>{useVisit().t('app.checkMonth')}</button>
      </AskingForm>
    </Card>
  );
}

export type HiddenValues = Readonly<Record<string, string | readonly string[]>>;

/** What a form carries, and nobody types. */
export function Hidden({ values }: { values: HiddenValues }) {
  return (
    <>
      {Object.entries(values).map(([name, value]) =>
        [value].flat().map((one) => <input {...{ type: 'hidden', name, value: one }} />),
      )}
    </>
  );
}

interface StepProps {
  action: string;
  button: TextKey;
  /** Of what the step is about, where the button says it. */
  count?: string;
  hint?: TextKey;
  shown?: string;
  hidden?: HiddenValues;
  asksReason?: boolean;
  /** What the reason is for, where several steps stand beside each other. */
  reasonLabel?: string;
}

/** One step, such as a test or a removal: a button, and why. */
export function Step(props: StepProps) {
  const { action, button, count = '', hint, shown, hidden = {}, asksReason = false } = props;
  const { t } = useVisit();
  const label = props.reasonLabel ?? t('app.reason');
  const reason = { name: 'reason', maxLength: 500, required: true, autocomplete: 'off' } as const;
  return (
    <Form action={action} {...(shown === undefined ? {} : { shown })}>
      <Hidden values={hidden} />
      <div class="row">
        {asksReason && <input {...reason} placeholder={t('app.reason')} aria-label={label} />}
        <button class="plain">{t(button, { count })}</button>
        {hint && <Hint>{t(hint)}</Hint>}
      </div>
    </Form>
  );
}
