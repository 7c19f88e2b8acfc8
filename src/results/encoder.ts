/** Writes one format as text; `open` comes first, `close` last, one `item` a row or triple in between. */
export interface ItemEncoder<T> {
  open(): string;
  item(item: T): string;
  close(): string;
}
