export declare const accessesOf: (
  text: string,
  owners: ReadonlyMap<string, string>
) => ReadonlyArray<{ readonly table: string; readonly isWrite: boolean }>
export declare const isAllowed: (folder: string, owner: string, isWrite: boolean) => boolean
export declare const tableFaults: () => ReadonlyArray<string>
