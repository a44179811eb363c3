// Pages of people's own access: each is one form, for one code, password or e-mail.
import type { ComponentChildren } from 'preact';
import { FormCard, type FormFields } from '../kit/form.js';
import { ButtonLink, Card, Folded, Hint, Message } from '../kit/elements.js';
import { Shown } from '../page.js';
import { readNext } from '../requests.js';
import type { Visit } from '../visit.js';
import type { TextKey } from '../texts.js';

export interface FormPage {
  visit: Visit;
  /** The path of the page where it is absent. */
  action?: string;
  title: TextKey;
  button: TextKey;
  fields: FormFields;
  hidden?: Readonly<Record<string, string>>;
  problem: string | null;
  above?: ComponentChildren;
  below?: ComponentChildren;
}

/** `problem`: why the form was refused. */
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

export const newPassword = {
  is: 'secret',
  hint: 'password.hint',
  autocomplete: 'new-password',
  minLength: 12,
  required: true,
} as const;

export const emailFields: FormFields = {
  email: {
    ...{ label: 'word.email', is: 'email', autocomplete: 'username', required: true },
    autofocus: true,
  },
};

/** Where people sign in at an identity provider, the form is for emergencies, and stands folded. */
export function signInPage(
  visit: Visit,
  problem: string | null = null,
  options: Shown['options'] = {},
): Shown {
  const { t, ssoSite } = visit;
  const hidden = nextIn(visit);
  const form: FormPage = {
    ...{ visit, title: 'signIn.title', button: 'signIn.title', problem, hidden },
    action: '/console/sign-in',
    fields: {
      ...emailFields,
      password: {
        ...{ label: 'signIn.password', is: 'secret', autocomplete: 'current-password' },
        required: true,
      },
    },
    below: <Hint isBlock>{t('signIn.first')}</Hint>,
  };
  if (!ssoSite) return formPage(form, options);
  const { body } = formPage({
    ...form,
    problem: null,
    below: <Hint isBlock>{t('sso.local')}</Hint>,
  });
  const page = (
    <>
      <Card>
        {problem && <Message kind="bad">{problem}</Message>}
        <ButtonLink href={`/console/sso?next=${encodeURIComponent(hidden.next)}`}>
          {t('sso.signIn')}
        </ButtonLink>
      </Card>
      <Folded title={t('sso.withPassword')} open={visit.isForm}>
        {body}
      </Folded>
    </>
  );
  return new Shown(t(form.title), page, { isNarrow: true, ...options });
}
