// Which accounts a statement reaches, computed from PostgreSQL's plan of it: whether it would stay
// on one server, if accounts had servers of their own.

/**
 * `given`: each table is restricted to an account that the statement is given. `each`: of every
 * account, apart from the others. `across`: it joins rows without their account. `none`: no table
 * of an account. `unknown`: the plan does not show it.
 */
export type AccountReach = 'given' | 'each' | 'across' | 'none' | 'unknown';

/** Of `EXPLAIN (GENERIC_PLAN, VERBOSE, FORMAT JSON)`. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  Alias?: string;
  'CTE Name'?: string;
  'Subplan Name'?: string;
  Operation?: string;
  Output?: string[];
  Plans?: PlanNode[];
  [key: string]: unknown;
}

const stripped = (text: string) => text.replaceAll(/["()]|::\w+(\[\])?/g, '').trim();

/** A row is compared with those of a sub-select by this column, also where it is one of several. */
const hashed = /(\w+\.(?:account_)?id) = \(hashed SubPlan (\d+)\)\.col(\d+)/g;

/** `tables` are those whose first column is the account. */
export function accountReachOf(plan: PlanNode, tables: ReadonlySet<string>): AccountReach {
  const nodes = flatten(plan);
  const aliases = new Map(nodes.flatMap((node) => (node.Alias ? [[node.Alias, node]] : [])));
  const isOfAccounts = (node: PlanNode | undefined) => tables.has(node?.['Relation Name'] ?? '');
  const used = [...aliases].filter(([, node]) => isOfAccounts(node)).map(([alias]) => alias);
  if (used.length === 0) return 'none';
  const groups = new Groups();
  for (const node of nodes) {
    for (const [left, right] of equalitiesOf(node)) {
      const [one, other] = [nameOf(left), nameOf(right)];
      if (isColumn(one) || isColumn(other)) groups.join(one, other);
    }
    for (const [, column = '', plan = '', index = ''] of conditionsOf(node)
      .join()
      .matchAll(hashed)) {
      const computed = nodes.find((one) => one['Subplan Name'] === `SubPlan ${plan}`);
      groups.join(nameOf(column), nameOf(computed?.Output?.[Number(index) - 1] ?? '?.?'));
    }
    if (node.Operation === 'Insert' && node.Alias)
      groups.join(`${node.Alias}.account_id`, nameOf(node.Plans?.[0]?.Output?.[0] ?? '?.?'));
    for (const [column, source] of passedOn(node, nodes)) groups.join(column, nameOf(source));
  }
  const members = used.map((alias) => groups.membersOf(`${alias}.account_id`));
  if (members.some((names) => names.includes('?'))) return 'unknown';
  const isGiven = members.map((names) => names.includes('='));
  if (isGiven.every(Boolean)) return 'given';
  const open = new Set(members.filter((_, index) => !isGiven[index]).map((names) => names.join()));
  const isUnion = nodes.some((node) => ['Append', 'Merge Append'].includes(node['Node Type']));
  if (nodes.some((node) => /\bctid\b/.test(conditionsOf(node).join()))) return 'unknown';
  if (open.size === 1 && !isGiven.some(Boolean)) return 'each';
  return isUnion ? 'unknown' : 'across';

  function isColumn(name: string): boolean {
    return name.endsWith('.account_id');
  }

  /** A column of an account, `=` for what is given, or `?`. */
  function nameOf(text: string): string {
    const initPlan = /InitPlan (\d+)\)?\.col1/.exec(text)?.[1];
    const computed = nodes.find((node) => node['Subplan Name'] === `InitPlan ${initPlan}`);
    if (computed) return nameOf(computed.Output?.[0] ?? '?.?');
    const value = stripped(text);
    const [, alias = '', column = ''] = /^(\w+)\.(\w+)$/.exec(value) ?? [];
    if (!alias) return /\b[a-z_]\w*\.\w/i.test(value) ? '?' : '=';
    const node = aliases.get(alias);
    if (node?.['Relation Name'] === 'bank_account' && column === 'id') return `${alias}.account_id`;
    if (column === 'account_id') return value;
    return node && !flatten(node).some(isOfAccounts) && !node['CTE Name'] ? '=' : '?';
  }
}

function flatten(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}

/** What the accounts are that a WITH query, a sub-select or a function returns. */
function passedOn(node: PlanNode, nodes: PlanNode[]): [string, string][] {
  const { Alias: alias, 'CTE Name': cte, 'Node Type': type } = node;
  if (!alias || node['Relation Name']) return [];
  const column = `${alias}.account_id`;
  if (type === 'Function Scan' || type === 'Values Scan') return [[column, '=']];
  const inner = cte
    ? nodes.find((one) => one['Subplan Name'] === `CTE ${cte}`)
    : type === 'Subquery Scan'
      ? node.Plans?.[0]
      : undefined;
  if (!inner) return [[column, '?.?']];
  const sources = new Set(
    (inner.Output ?? []).map(stripped).filter((text) => /^\w+\.account_id$/.test(text)),
  );
  return [[column, sources.size === 1 ? ([...sources][0] ?? '') : '?.?']];
}

function conditionsOf(node: PlanNode): string[] {
  return Object.entries(node).flatMap(([key, value]) =>
    /(Cond|Filter)$/.test(key) && typeof value === 'string' ? [value] : [],
  );
}

/** Both sides of each equality that always holds. */
function equalitiesOf(node: PlanNode): [string, string][] {
  return conditionsOf(node)
    .flatMap(conjunctsOf)
    .flatMap((text): [string, string][] => {
      const [left = '', right = '', ...rest] = splitOutside(text, ' = ');
      return rest.length > 0 || !right || / (AND|OR) /.test(text) ? [] : [[left, right]];
    });
}

function conjunctsOf(text: string): string[] {
  const inner = stripParentheses(text);
  const parts = splitOutside(inner, ' AND ');
  return parts.length === 1 ? [inner] : parts.flatMap(conjunctsOf);
}

function stripParentheses(text: string): string {
  if (!text.startsWith('(')) return text;
  let depth = 0;
  for (const [index, char] of [...text].entries()) {
    depth += char === '(' ? 1 : char === ')' ? -1 : 0;
    if (depth === 0) return index === text.length - 1 ? stripParentheses(text.slice(1, -1)) : text;
  }
  return text;
}

/** Parts between separators that stand outside of parentheses. */
function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let [depth, from] = [0, 0];
  for (let index = 0; index < text.length; index += 1) {
    depth += text[index] === '(' ? 1 : text[index] === ')' ? -1 : 0;
    if (depth > 0 || !text.startsWith(separator, index)) continue;
    parts.push(text.slice(from, index));
    from = index + separator.length;
  }
  return [...parts, text.slice(from)];
}

/** Names that are equal. What is given, and what is unknown, does not connect others. */
class Groups {
  private readonly edges = new Map<string, Set<string>>();

  join(one: string, other: string): void {
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const)
      this.edges.set(from, (this.edges.get(from) ?? new Set()).add(to));
  }

  membersOf(name: string): string[] {
    // A set is read to its end while it grows.
    const reached = new Set([name]);
    for (const one of reached)
      if (one !== '=' && one !== '?')
        for (const next of this.edges.get(one) ?? []) reached.add(next);
    return [...reached].sort();
  }
}
