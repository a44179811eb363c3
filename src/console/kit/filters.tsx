// The filters of a list: what is asked for most, and behind a title the ids for programs.
import { useVisit } from '../visit.js';
import type { TextKey } from '../texts.js';
import { writeTypedDay } from '../typed-day.js';
import { Message, Row } from './elements.js';

export type FilterField = { name: string; label: TextKey; isMore?: boolean | undefined } & (
  | { options: readonly (readonly [value: string, text: string])[] }
  | { type: 'text' | 'search' | 'date' | 'number'; hint?: TextKey }
);

/** What a filter selects where the address says nothing of it, by its name. */
export type FilterDefaults = Readonly<Record<string, string>>;

/** Whether the address asks for something of the filter. */
export const isGiven = (query: URLSearchParams, name: string, defaults: FilterDefaults = {}) =>
  (query.get(name)?.trim() ?? defaults[name] ?? '') !== (defaults[name] ?? '');

/**
 * Filters of a list. They stand in the address, so that a list can be sent to a colleague. Behind
 * their title where the screen is narrow, and with `isFolded` on each one.
 */
export function Filters({
  fields,
  wrong = [],
  defaults = {},
  isFolded = false,
}: {
  fields: readonly FilterField[];
  /** The names of filters whose value was not valid. */
  wrong?: readonly string[];
  defaults?: FilterDefaults;
  isFolded?: boolean;
}) {
  const { t, path, query } = useVisit();
  if (fields.length === 0) return null;
  const more = fields.filter(({ isMore }) => isMore);
  const count = fields.filter(({ name }) => isGiven(query, name, defaults)).length;
  const isOpen = wrong.length > 0 || (count > 0 && !isFolded);
  const labels = fields.filter(({ name }) => wrong.includes(name)).map(({ label }) => t(label));
  return (
    <>
      {labels.length > 0 && (
        <Message kind="warn">{t('app.wrongFilters', { names: labels.join(', ') })}</Message>
      )}
      <details open={isOpen} class={isFolded ? undefined : 'folded-when-narrow'}>
        <summary>{t('app.filters', { count })}</summary>
        <form class="row filters" method="get" action={path} role="search">
          {fields
            .filter(({ isMore }) => !isMore)
            .map((field) => (
              <FilterInput field={field} />
            ))}
          {['sort', 'order'].map((name) => (
            <>
              {query.has(name) && <input {...{ type: 'hidden', name, value: query.get(name)! }} />}
            </>
          ))}
          <button>{t('app.filter')}</button>
          {count > 0 && <a href={path}>{t('app.clearFilters')}</a>}
          {more.length > 0 && (
            <details open={more.some(({ name }) => isGiven(query, name) || wrong.includes(name))}>
              <summary>{t('app.moreFilters')}</summary>
              <Row>
                {more.map((field) => (
                  <FilterInput field={field} />
                ))}
              </Row>
            </details>
          )}
        </form>
      </details>
    </>
  );
}

function FilterInput({ field }: { field: FilterField }) {
  const { t, query, language } = useVisit();
  const { name, label } = field;
  const value = query.get(name) ?? '';
  if ('options' in field)
    return (
      <label>
        {t(label)}
        <select name={name}>
          <option value="">{t('app.any')}</option>
          {field.options.map(([option, text]) => (
            <option value={option} selected={option === value}>
              {text}
            </option>
          ))}
        </select>
      </label>
    );
  return (
    <label>
      {t(label)}
      {field.hint && <span class="hint"> {t(field.hint)}</span>}
      {field.type === 'date' ? (
        <input {...{ name, value: writeTypedDay(value, language), placeholder: t('app.date') }} />
      ) : (
        <input {...{ name, value, type: field.type as 'text' }} />
      )}
    </label>
  );
}
