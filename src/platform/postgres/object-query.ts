// Statements whose rows the driver hands over as objects, with names in camel case. On its own it
// makes an array of the texts of a row, one of its values, and then an object: in a batch of
// thousands of rows, each of them lives long enough to be copied by the garbage collector.
import pg from 'pg';
import { invariant } from '../errors.js';
import { camelCase } from './row-names.js';

type Texts = readonly (string | null)[];
type RowReader = (texts: Texts) => object;
type Parser = (text: string) => unknown;

const { INT8, TIMESTAMPTZ, JSON: JSON_TYPE, JSONB } = pg.types.builtins;
/** The arrays of these types, which the package does not name. */
const int8Array: number = 1016;
const timestamptzArray: number = 1185;

const textArray: number = 1009;

const arrayOf = (parse: Parser) => (text: string) =>
  (pg.types.getTypeParser(textArray)(text) as (string | null)[]).map((one) => one && parse(one));

/** A time of a session in UTC, which most are, in the form that is parsed fastest. */
const toDate = (text: string): unknown =>
  text.endsWith('+00') && text.length <= 26
    ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
    : pg.types.getTypeParser(TIMESTAMPTZ)(text);

const parsers = new Map<number, Parser>([
  [INT8, BigInt],
  [TIMESTAMPTZ, toDate],
  [JSON_TYPE, JSON.parse],
  [JSONB, JSON.parse],
  [int8Array, arrayOf(BigInt)],
  [timestamptzArray, arrayOf(toDate)],
]);

const unknownType: number = 0;
/** The driver's for types that it does not know: the text is the value. */
const asText: unknown = pg.types.getTypeParser(unknownType);

/** Null where the text is the value. */
function parserOf(type: number): Parser | null {
  const parser = parsers.get(type) ?? (pg.types.getTypeParser(type) as Parser);
  return parser === asText ? null : parser;
}

type Make = (parse: readonly (Parser | null)[]) => RowReader;

/** By the names and types of the columns. */
const readers = new Map<string, RowReader>();
const maxReaders = 1_000;

/**
 * Reads the rows with these columns. It is compiled for the names, which are those of our SQL, and
 * which are written as JSON texts: objects whose fields are added one by one take ten times as long
 * to make, and longer to read.
 */
function readerOf(columns: readonly pg.FieldDef[]): RowReader {
  const key = columns.map(({ name, dataTypeID }) => `${name} ${dataTypeID}`).join();
  let reader = readers.get(key);
  if (!reader) {
    const parse = columns.map(({ dataTypeID }) => parserOf(dataTypeID));
    const fields = columns.map(({ name }, at) => {
      const parsed = `texts[${at}] && parse[${at}](texts[${at}])`;
      const value = parse[at] === null ? `texts[${at}]` : parsed;
      return `${JSON.stringify(camelCase(name))}: ${value}`;
    });
    // oxlint-disable-next-line typescript/no-implied-eval -- made of JSON and indexes alone
    const make = new Function('parse', `return (texts) => ({ ${fields.join(', ')} });`) as Make;
    reader = make(parse);
    if (readers.size === maxReaders) readers.clear();
    readers.set(key, reader);
  }
  return reader;
}

/** The types of the package leave out what the driver calls. */
interface DriverQuery {
  _canceledDueToError: unknown;
}

export class ObjectQuery extends pg.Query {
  /** Its rows, once it is answered. */
  readonly objects: object[] = [];
  /** Their columns, with the names that PostgreSQL has for them. */
  columns: readonly pg.FieldDef[] = [];
  private read: RowReader | null = null;

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.columns = fields;
    this.read = readerOf(fields);
  }

  handleDataRow({ fields }: { fields: Texts }): void {
    const query = this as unknown as DriverQuery;
    if (query._canceledDueToError) return;
    try {
      invariant(this.read, 'rows follow the description of their columns');
      this.objects.push(this.read(fields));
    } catch (error) {
      // The driver fails with it once the server is done.
      query._canceledDueToError = error;
    }
  }
}
