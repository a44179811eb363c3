// What the columns of a file are: each with its header, its first values and what it seems to be. A
// person chooses the field of each, and the account remembers it.
import type { ComponentChildren } from 'preact';
import {
  columnFields,
  mappingTargets,
  missingFields,
  type ColumnField,
  type MappingTarget,
} from '../../outbound/bulk/column-mapping.js';
import type { ForeignTable, ShownColumn } from '../../outbound/bulk/upload-columns.service.js';
import type { AppError } from '../../platform/errors.js';
import { Badge, Card, Hint, Message, Muted, NamedValues } from '../kit/elements.js';
import {
  errorMarks,
  Fields,
  FieldErrorText,
  Form,
  Hidden,
  Step,
  type HiddenValues,
} from '../kit/form.js';
import { ListTable } from '../kit/table.js';
import { useVisit, type Visit } from '../visit.js';

export interface MappedFile {
  table: ForeignTable;
  /** What the form carries of the file. */
  step: HiddenValues;
  problem?: AppError | null;
}

export const columnFieldName = (at: number): string => `column${at}`;

const namesOf = ({ t }: Visit, fields: readonly ColumnField[]) =>
  fields.map((field) => t(`bulk.field.${field}`)).join(', ');

/** The name of a column; its place where the header has none. */
const headerOf = ({ t }: Visit, { header }: ShownColumn, at: number) =>
  header === '' ? t('bulk.unnamed', { at: String(at + 1) }) : header;

export function ColumnsForm({ table, step, problem }: MappedFile) {
  const visit = useVisit();
  const { t, form } = visit;
  const isTyped = form.has('target');
  const target = isTyped
    ? mappingTargets.find((one) => one === form.get('target'))
    : (table.target ?? undefined);
  const fields = table.fields.map((field, at) =>
    isTyped ? (columnFields.find((one) => one === form.get(columnFieldName(at))) ?? null) : field,
  );
  return (
    <Card title={t('bulk.columns')}>
      <Muted>{t('bulk.columnsWhy')}</Muted>
      <Missing {...{ target, fields, problem: problem ?? null }} />
      <Form action={visit.to('bulk/columns')}>
        <Hidden values={step} />
        <Fields
          fields={{
            target: {
              ...{ label: 'bulk.kind', hint: 'bulk.targetHint', is: 'choice' },
              options: [
                ['', t('bulk.targetNone')],
                ...mappingTargets.map((one) => [one, t(`bulk.target.${one}`)] as const),
              ],
            },
          }}
          values={{ target }}
          problem={problem ?? null}
        />
        <ListTable
          name="bulk.columns"
          rows={table.columns.map((column, at) => ({ column, at, field: fields[at] ?? null }))}
          columns={{
            'bulk.column': {
              wide: ({ column, at }) => <strong>{headerOf(visit, column, at)}</strong>,
            },
            'bulk.samples': { wide: ({ column }) => column.samples.join(' · ') },
            'bulk.type': ({ column }) => <ColumnType column={column} />,
            'bulk.field': ({ column, at, field }) => (
              <FieldChoice {...{ column, at, field, problem: problem ?? null }} />
            ),
          }}
        />
        <button>{t('bulk.useColumns')}</button>
      </Form>
    </Card>
  );
}

function Missing({
  target,
  fields,
  problem,
}: {
  target: MappingTarget | undefined;
  fields: readonly (ColumnField | null)[];
  problem: AppError | null;
}) {
  const visit = useVisit();
  const { t } = visit;
  const missing = target ? missingFields(target, fields) : [];
  return (
    <>
      {target && <Hint isBlock>{t(`bulk.needs.${target}`)}</Hint>}
      {missing.length > 0 && (
        <Message kind={problem ? 'bad' : 'warn'}>
          {t('bulk.columnsMissing', { fields: namesOf(visit, missing) })}
        </Message>
      )}
      {problem && missing.length === 0 && <Message kind="bad">{t('fieldError.summary')}</Message>}
    </>
  );
}

function ColumnType({ column: { type, style } }: { column: ShownColumn }) {
  const { t } = useVisit();
  const isDoubtful = style === 'unclear' || style === 'month_first';
  return (
    <>
      <Badge tone="plain" text={t(`bulk.type.${type}`)} />
      {style && !isDoubtful && <Hint isBlock>{t(`bulk.style.${style}`)}</Hint>}
      {isDoubtful && <Message kind="warn">{t(`bulk.style.${style}`)}</Message>}
    </>
  );
}

interface FieldChoiceProps {
  column: ShownColumn;
  at: number;
  field: ColumnField | null;
  problem: AppError | null;
}

function FieldChoice({ column, at, field, problem }: FieldChoiceProps) {
  const visit = useVisit();
  const { t } = visit;
  const name = columnFieldName(at);
  const [error] = problem?.details.errors?.[`$.${name}`] ?? [];
  return (
    <>
      <select name={name} aria-label={headerOf(visit, column, at)} {...errorMarks(name, error)}>
        <option value="">{t('bulk.unused')}</option>
        {columnFields.map((one) => (
          <option value={one} selected={one === field}>
            {t(`bulk.field.${one}`)}
          </option>
        ))}
      </select>
      <FieldErrorText {...{ name, error }} />
    </>
  );
}

/** What the columns were read as, and the way to change it. */
export function UsedColumns({ table, step }: MappedFile) {
  const visit = useVisit();
  const { t } = visit;
  const facts = table.columns.map((column, at): readonly [string, ComponentChildren] => {
    const field = table.fields[at] ?? null;
    return [
      headerOf(visit, column, at),
      field === null ? t('bulk.unused') : t(`bulk.field.${field}`),
    ];
  });
  return (
    <Card title={t('bulk.columns')}>
      <NamedValues facts={facts} />
      {table.target === 'transfers' && <Hint isBlock>{t('bulk.noSchedule')}</Hint>}
      <Step action={visit.to('bulk/columns')} button="bulk.changeColumns" hidden={step} />
    </Card>
  );
}
