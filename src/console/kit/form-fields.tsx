// Fields of long forms, each with what is wrong with it.
import type { ComponentChildren, JSX } from 'preact';
import type { FieldError } from '../../bank-contract/field-errors.js';
import { fieldErrorIn } from '../problems.js';
import { Message } from './frame.js';
import type { Visit } from '../requests.js';
import type { TextKey } from '../texts.js';

export type FormErrors = ReadonlyMap<string, FieldError>;

interface Checked {
  visit: Visit;
  name: string;
  label: TextKey;
  hint?: TextKey;
  /** By the names of fields, as the schema of the request writes them. */
  errors: FormErrors;
}

interface TextInput {
  value: string;
  type?: 'text' | 'date';
  inputMode?: 'decimal' | 'numeric';
  maxLength?: number;
  required?: boolean;
  autocomplete?: 'off';
}

type TextAttributes = Omit<TextInput, 'type'> & { type?: 'text' };

/** A text field with its label, hint and error. */
export function CheckedField({
  visit,
  label,
  hint,
  errors,
  name,
  ...input
}: Checked & TextInput): JSX.Element {
  const error = errors.get(name);
  return (
    <label>
      {visit.t(label)}
      {hint && <span class="hint"> {visit.t(hint)}</span>}
      <input name={name} {...(input as TextAttributes)} {...describedBy(name, error)} />
      <FieldProblem visit={visit} name={name} errors={errors} />
    </label>
  );
}

/** A choice with its label and error. */
export function CheckedSelect({
  visit,
  label,
  hint,
  errors,
  name,
  options,
  chosen,
}: Checked & {
  options: readonly (readonly [value: string, text: string])[];
  chosen: string;
}): JSX.Element {
  return (
    <label>
      {visit.t(label)}
      {hint && <span class="hint"> {visit.t(hint)}</span>}
      <select name={name} {...describedBy(name, errors.get(name))}>
        {options.map(([value, text]) => (
          <option value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
      </select>
      <FieldProblem visit={visit} name={name} errors={errors} />
    </label>
  );
}

/** What is wrong with a field; nothing for a right one. */
export function FieldProblem({
  visit,
  name,
  errors,
}: Pick<Checked, 'visit' | 'name' | 'errors'>): JSX.Element | null {
  const error = errors.get(name);
  if (error === undefined) return null;
  return (
    <span class="field-error" id={errorId(name)}>
      {fieldErrorIn(visit.language, error)}
    </span>
  );
}

/** Above a form that was refused. */
export function FormErrorSummary({
  visit,
  errors,
}: Pick<Checked, 'visit' | 'errors'>): JSX.Element | null {
  if (errors.size === 0) return null;
  return <Message kind="bad">{visit.t('fieldError.summary')}</Message>;
}

export function describedBy(name: string, error: FieldError | undefined) {
  return error === undefined
    ? {}
    : { 'aria-invalid': 'true' as const, 'aria-describedby': errorId(name) };
}

function errorId(name: string): string {
  return `error-${name.replace(/[^\w]/g, '-')}`;
}

/** Fields that belong together. */
export function FieldGroup({
  visit,
  legend,
  hint,
  kind,
  children,
}: {
  visit: Visit;
  legend: TextKey;
  hint?: TextKey;
  /** A class of the stylesheet. */
  kind?: string;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <fieldset class={kind}>
      <legend>{visit.t(legend)}</legend>
      {hint && <p class="hint">{visit.t(hint)}</p>}
      {children}
    </fieldset>
  );
}
