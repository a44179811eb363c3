// What pages say of errors: the words of a reason, in the reader's language. Nothing that the
// service wrote in English for programmers is shown in Portuguese.
import {
  fieldMessage,
  fill,
  type FieldError,
  type FieldErrors,
} from '../bank-contract/field-errors.js';
import { AppError } from '../platform/errors.js';
import type { Visit } from './visit.js';
import { findTextKey, type TextKey } from './texts.js';
import { fieldErrorsInPortuguese, fieldNames, otherFieldError } from './texts/field-errors.js';
import type { Language } from './texts/languages.js';

export function fieldErrorIn(language: Language, error: FieldError): string {
  if (language === 'en') return fieldMessage(error);
  return typeof error === 'string'
    ? otherFieldError
    : fill(fieldErrorsInPortuguese[error.reason], error.params);
}

/** One sentence for each field: `CPF/CNPJ do pagador: Precisa ser um CPF/CNPJ válido.` */
export function fieldErrorsIn(language: Language, errors: FieldErrors): string[] {
  return Object.entries(errors).map(([path, ofField]) => {
    const field = path.replace(/^\$\.?/, '');
    const said = ofField.map((error) => fieldErrorIn(language, error)).join(' ');
    return field === '' ? said : `${fieldNameIn(language, field)}: ${said}`;
  });
}

/** As people call the field; one that only programs have, by its own name. */
function fieldNameIn(language: Language, field: string): string {
  const index = language === 'pt' ? 0 : 1;
  return fieldNames[field]?.[index] ?? fieldNames[field.split('.').at(-1) ?? '']?.[index] ?? field;
}

/** The words of a reason; null for one that has none. `area` has words of its own for some. */
export function reasonKey(reason: string | null, area?: string): TextKey | null {
  return (
    (area === undefined ? null : findTextKey(`${area}.${reason}`)) ??
    findTextKey(`problem.${reason}`)
  );
}

/** The words of an error's reason, or of its status. */
export function problemKey({ code, status, details }: AppError, area?: string): TextKey {
  const general = status < 500 ? 'error.400' : 'error.503';
  return reasonKey(details.reason ?? code, area) ?? findTextKey(`error.${status}`) ?? general;
}

/**
 * What the page of a form says about an error: the words of its reason, or of its fields. Rethrows
 * what is no error of a known kind.
 */
export function problemIn(
  { t, language }: Pick<Visit, 't' | 'language'>,
  error: unknown,
  describe = (errors: FieldErrors) => fieldErrorsIn(language, errors).join(' '),
): string {
  if (!(error instanceof AppError) || error.status === 500) throw error;
  const { errors } = error.details;
  return errors ? describe(errors) : t(problemKey(error));
}

type AttemptedForm<Result> =
  { problem: AppError; result?: undefined } | { problem: null; result: Result };

/** Does what a form asks for. What the person can mend on the page is a problem of the form. */
export async function attempt<Result>(act: () => Promise<Result>): Promise<AttemptedForm<Result>> {
  try {
    return { problem: null, result: await act() };
  } catch (error) {
    const isOwn = error instanceof AppError && error.status < 500;
    if (!isOwn || error.code === 'not_found' || error.code === 'forbidden') throw error;
    return { problem: error };
  }
}
