// A reporter for `node:test`, loaded before any code of the repository and again, as the same module, as the
// runner's reporter. What tests print goes to standard error; results go, signed, to a file descriptor of their own.
// The key comes in on standard input, which is then at its end.

import { createHmac, createSecretKey } from 'node:crypto';
import { readFileSync, writeSync } from 'node:fs';

// Held here: code under test may put other functions in their place later.
const { stringify } = JSON;
const [mac, write] = [createHmac, writeSync];

const { key, channel } = JSON.parse(readFileSync(0, 'utf8'));
const secret = createSecretKey(key, 'utf8');

let written = 0;

function emit(record) {
  const payload = stringify(record);
  const signature = mac('sha256', secret).update(`${written}:${payload}`).digest('hex');
  write(channel, `${stringify({ number: written, mac: signature, payload })}\n`);
  written += 1;
}

function statusOf({ type, data }) {
  if (data.skip !== undefined) return 'skipped';
  if (type === 'test:pass') return 'passed';
  if (data.todo !== undefined) return 'xfailed';
  const reason = data.details?.error?.failureType;
  return reason === 'testCodeFailure' || reason === 'subtestsFailed' ? 'failed' : 'error';
}

/** Tell every test and suite by the names on the way to it; tell the end when the runner has come to it. */
export default async function* report(events) {
  const names = [];
  for await (const event of events) {
    const { name, nesting } = event.data;
    if (event.type === 'test:start') {
      names[nesting] = name;
    } else if (event.type === 'test:pass' || event.type === 'test:fail') {
      emit({ names: [...names.slice(0, nesting), name], status: statusOf(event) });
      yield `${event.type === 'test:pass' ? 'ok' : 'not ok'}: ${[...names.slice(0, nesting), name].join(' > ')}\n`;
      if (event.data.details?.error) yield `${event.data.details.error.cause?.stack ?? event.data.details.error}\n`;
    }
  }
  emit({ finished: true });
}
