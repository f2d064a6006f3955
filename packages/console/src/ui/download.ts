/** Saves rows as a file of JSON lines. */
export const downloadLines = (name: string, rows: ReadonlyArray<unknown>): void =>
  download(name, "application/x-ndjson", rows.map((row) => `${JSON.stringify(row)}\n`).join(""))

/** Saves a text, or parts of a file, as a file. By the page, since a link has no key. */
export const download = (name: string, type: string, content: string | ReadonlyArray<BlobPart>): void => {
  const address = URL.createObjectURL(new Blob(typeof content === "string" ? [content] : [...content], { type }))
  const link = document.createElement("a")
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
