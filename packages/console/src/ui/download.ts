/** Saves rows as a file of JSON lines. */
export const downloadLines = (name: string, rows: ReadonlyArray<unknown>): void =>
  download(name, "application/x-ndjson", rows.map((row) => `${JSON.stringify(row)}\n`).join(""))

/** Saves a text as a file. By the page, since a link has no key. */
export const download = (name: string, type: string, text: string): void => {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement("a")
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
