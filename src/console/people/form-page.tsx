// Pages of people's own access: each is one form, for one code, password or e-mail.
import type { ComponentChildren } from 'preact';
import { FormCard, type FormFields } from '../kit/form.js';
import { Message } from '../kit/elements.js';
import { Shown } from '../page.js';
import { readNext } from '../requests.js';
import type { Visit } from '../visit.js';
import type { TextKey } from '../texts.js';

export interface FormPage {
  visit: Visit;
  title: TextKey;
  button: TextKey;
  fields: FormFields;
  hidden?: Readonly<Record<string, string>>;
  problem: string | null;
  above?: ComponentChildren;
  below?: ComponentChildren;
}

/** `problem`: why the form was refused. It is sent to the path of its page. */
export function formPage(
  { visit, title, problem, above, below, ...form }: FormPage,
  options: Shown['options'] = {},
): Shown {
  const body = (
    <>
      <FormCard {...{ action: visit.path, ...form }}>
        {problem && <Message kind="bad">{problem}</Message>}
        {above}
      </FormCard>
      {below}
    </>
  );
  const status = problem === null ? 200 : 422;
  return new Shown(visit.t(title), body, { isNarrow: true, status, ...options });
}

/** Where the form leads when it is accepted. */
export const nextIn = ({ query, form }: Visit) => ({
  next: readNext(query.get('next') ?? form.get('next')),
});

export const codeFields = (label: TextKey, hasLetters = false): FormFields => ({
  code: {
    label,
    ...(hasLetters ? {} : { inputMode: 'numeric' }),
    autocomplete: 'one-time-code',
    maxLength: 20,
    required: true,
    autofocus: true,
  },
});

export const newPassword = {
  is: 'secret',
  hint: 'password.hint',
  autocomplete: 'new-password',
  minLength: 12,
  required: true,
} as const;
