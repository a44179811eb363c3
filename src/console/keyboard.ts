// The script of the console's keyboard. It is generic: a page says by attributes what keys do, and
// works without it.
//
// - `data-key="a"`: the key opens a `details`, follows a link, presses a button, or chooses a radio
//   button. In the row that has the focus, its own elements come first.
// - `data-focus="id"`: the focus then goes to the element with this id.
// - `data-rows`: on what has rows, such as a table body: j and k move through its rows, and so do
//   the arrows while one of them has the focus. A row's first link gets the focus, or what has
//   `data-handle`.
//
// A link in a row that wrote another part of the page anew is the current one of its list, from
// which keys move.
//
// A text to copy is marked as a whole when it gets the focus. A button with `data-copy` is shown,
// and copies the text before it: the attribute is what it says then.
//
// It does nothing while somebody types, or holds Ctrl, Alt or Meta. Escape leaves a field.
export const keyboardScript = `(() => {
  const fieldTypes = ['checkbox', 'radio', 'button', 'submit', 'reset'];
  const isField = (one) => one instanceof HTMLElement && (one.isContentEditable
    || one.matches('textarea, select') || (one.matches('input') && !fieldTypes.includes(one.type)));
  const isShown = (one) => one.checkVisibility ? one.checkVisibility() : one.offsetParent !== null;
  const rowsIn = (list) => [...list.children].filter((row) => isShown(row) && handleOf(row));
  const handleOf = (row) => row.querySelector('[data-handle]') || row.querySelector('a[href]')
    || row.querySelector('input, button, summary');
  const currentIn = (list) => list.querySelector('a[aria-current]');
  const listOf = (one) => one instanceof Element ? one.closest('[data-rows]') : null;
  const rowOf = (one) => {
    const list = listOf(one);
    return list ? [...list.children].find((row) => row.contains(one)) : null;
  };
  const focusOn = (one) => {
    if (!one) return;
    one.focus();
    one.scrollIntoView({ block: 'nearest' });
  };

  function move(step) {
    const active = document.activeElement;
    const list = listOf(active) || document.querySelector('[data-rows]');
    if (!list) return false;
    const rows = rowsIn(list);
    const here = list.contains(active) ? active : currentIn(list);
    const at = rows.findIndex((row) => row.contains(here));
    const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step;
    if (rows[next]) focusOn(handleOf(rows[next]));
    return true;
  }

  function findByKey(key) {
    const isOfKey = (one) => one.dataset.key.toLowerCase() === key.toLowerCase() && isShown(one);
    const row = rowOf(document.activeElement);
    const own = row ? [...row.querySelectorAll('[data-key]')].find(isOfKey) : null;
    return own || [...document.querySelectorAll('[data-key]')].find(isOfKey);
  }

  function activate(one) {
    const target = one.dataset.focus ? document.getElementById(one.dataset.focus) : null;
    if (one.matches('details')) {
      one.open = true;
      focusOn(target || one.querySelector('input:not([type=hidden]), textarea, select, summary'));
      return;
    }
    if (isField(one)) return focusOn(one);
    one.click();
    if (!target) return;
    const hidden = target.closest('details');
    if (hidden) hidden.open = true;
    focusOn(target);
  }

  const opened = document.querySelector('[data-rows] a[aria-current]');
  if (opened) opened.scrollIntoView({ block: 'nearest' });
  document.addEventListener('htmx:afterSwap', ({ detail }) => {
    // A part that a stream brings was asked for by nothing.
    const link = detail.requestConfig?.elt;
    const list = link && listOf(link);
    if (!list || !link.matches('a')) return;
    const before = currentIn(list);
    if (before) before.removeAttribute('aria-current');
    link.setAttribute('aria-current', 'true');
  });

  const showCopies = () =>
    document.querySelectorAll('[data-copy]').forEach((one) => { one.hidden = false; });
  const copy = async (button) => {
    const field = button.previousElementSibling.querySelector('input');
    field.select();
    // Without HTTPS a browser has no clipboard.
    if (navigator.clipboard) await navigator.clipboard.writeText(field.value);
    else if (!document.execCommand('copy')) return;
    button.textContent = button.dataset.copy;
  };
  showCopies();
  document.addEventListener('htmx:afterSwap', showCopies);
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('[data-copy]') : null;
    // Where the browser refuses, the text stays marked.
    if (button) copy(button).catch(() => undefined);
  });
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof HTMLInputElement && target.readOnly) target.select();
  });
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.altKey
      || event.metaKey) return;
    if (isField(target)) {
      if (key === 'Escape') target.blur();
      return;
    }
    const isArrow = key === 'ArrowDown' || key === 'ArrowUp';
    if (key === 'j' || key === 'k' || (isArrow && listOf(target))) {
      if (move(key === 'j' || key === 'ArrowDown' ? 1 : -1)) event.preventDefault();
      return;
    }
    if (key === 'Enter' && target.matches('input[type=radio][data-focus]')) {
      event.preventDefault();
      activate(target);
      return;
    }
    if (event.repeat || key === 'Enter' || key === ' ' || key === 'Tab') return;
    const found = findByKey(key);
    if (!found) return;
    event.preventDefault();
    activate(found);
  });
})();
`;
