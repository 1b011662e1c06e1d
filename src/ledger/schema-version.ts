/** Throws an Error when a newer version of Verbatim wrote the database; `which` names it. */
export function refuseNewer(which: string, { version, known }: { version: number; known: number }): void {
  if (version <= known) return;
  throw new Error(
    `${which} has schema version ${version}; this version of Verbatim knows up to ${known}. Use the newer ` +
      'Verbatim that wrote it, or another database.',
  );
}
