// What a migration may not do, as it would stop the statements of others for as long as PostgreSQL
// reads or writes a table. Tables that it creates are empty, and nobody uses them yet.

/** Each is waited for during `tryMs` of src/platform/postgres at most, with the others held. */
const maxLockedTables = 3;

const locking = [
  /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?"?(\w+)/i,
  /^CREATE (?:OR REPLACE )?(?:CONSTRAINT )?TRIGGER .*? ON "?(\w+)/i,
  /^DROP TRIGGER .*? ON "?(\w+)/i,
  /^(?:DROP|LOCK) TABLE (?:IF EXISTS )?(?:ONLY )?"?(\w+)/i,
  /\bREFERENCES "?(\w+)/gi,
];
const createdIndex =
  /^CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?(?:IF NOT EXISTS )?"?(\w+)"? ON "?(\w+)/i;
const addsConstraint =
  /^ADD (?!COLUMN )(?:CONSTRAINT \S+ )?(?:CHECK|FOREIGN|UNIQUE|PRIMARY|EXCLUDE)\b/i;
const addsColumn = /^ADD (?:COLUMN )?/i;
const constrainsColumn = /\b(?:CHECK|REFERENCES|UNIQUE|PRIMARY KEY)\b/i;
/** A default that is not a constant is computed row by row. */
const rewrites = /\bSET NOT NULL\b|\bTYPE\b|\b(?:GENERATED|SERIAL|BIGSERIAL)\b|\bDEFAULT [^,]*\(/i;

export function lockProblemsOf(sql: string): string[] {
  const statements = sql
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\$\$.*?\$\$/gs, "''")
    .split(';')
    .map((text) => text.trim().replaceAll(/\s+/g, ' '))
    .filter((text) => text !== '');
  const created = statements.map(
    (text) => /^CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)/i.exec(text)?.[1],
  );
  const isOld = (table: string) => !created.includes(table);
  const named = statements.flatMap((text) =>
    locking.flatMap((form) => [...text.matchAll(RegExp(form, 'gi'))].map(([, name = '']) => name)),
  );
  const locked = [...new Set(named.filter(isOld))].join(', ');
  const problems = statements.flatMap((text, index) => {
    const before = statements.slice(0, index);
    return [...indexProblems(text, before, isOld), ...alterProblems(text, before, isOld)];
  });
  if (locked && statements.some((text) => /^(?:UPDATE|DELETE|INSERT|MERGE|WITH)\b/i.test(text)))
    problems.push(`changes rows while it holds a lock of ${locked}`);
  if (locked.split(', ').length > maxLockedTables)
    problems.push(`locks more than three tables: ${locked}`);
  return problems;
}

function indexProblems(text: string, before: string[], isOld: (table: string) => boolean) {
  if (/^DROP INDEX (?!CONCURRENTLY)/i.test(text))
    return ['drops an index that is not CONCURRENTLY'];
  const [, concurrently, name = '', table = ''] = createdIndex.exec(text) ?? [];
  if (!table || !isOld(table)) return [];
  if (!concurrently) return [`creates an index of ${table} that is not CONCURRENTLY`];
  const drop = `DROP INDEX CONCURRENTLY IF EXISTS ${name}`;
  const isDropped = before.some((one) => one.replaceAll('"', '') === drop);
  return isDropped ? [] : [`does not first drop the index ${name}`];
}

function alterProblems(text: string, before: string[], isOld: (table: string) => boolean) {
  const [all, table = ''] = locking[0]?.exec(text) ?? [];
  if (!all || !isOld(table)) return [];
  const actions = text.slice(all.length).replace(/^"? /, '');
  return actions.split(/, (?=(?:ADD|ALTER|DROP|VALIDATE|RENAME) )/i).flatMap((action) => {
    if (/^VALIDATE /i.test(action) && before.some((one) => / NOT VALID$/i.test(one)))
      return [`validates a constraint of ${table} in the transaction that adds it`];
    const isConstraint =
      addsConstraint.test(action) || (addsColumn.test(action) && constrainsColumn.test(action));
    if (isConstraint && !/ NOT VALID$| USING INDEX /i.test(action))
      return [`has a constraint of ${table} that is not NOT VALID`];
    return !isConstraint && rewrites.test(action)
      ? [`reads or rewrites ${table} under a lock`]
      : [];
  });
}
