// FMI 2.0 for co-simulation around the C code of a model, which is included below. The file config.h has:
// N_INPUTS, N_PAST_U and N_PAST_Y (how many past inputs and outputs there are), STEP_TIME, GUID, MODEL_STEP(y, u) and
// START, the start values. Types and names are those of the header fmi2Functions.h of the FMI project.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "model.c"
#include "config.h"

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING } Status;
// Names of values by their reference: the output, the inputs, past inputs (all at k-1, then all at k-2, ...), and past
// outputs (k-1, k-2, ...).
enum { OUTPUT = 0, INPUTS = 1, PAST_U = INPUTS + N_INPUTS, PAST_Y = PAST_U + N_PAST_U, N_VALUES = PAST_Y + N_PAST_Y };
typedef struct { double values[N_VALUES]; } Model;

static const double start[N_VALUES] = START;

// The output at the present time follows from past outputs, and from present and past inputs.
static void update(Model *model)
{
    model->values[OUTPUT] = MODEL_STEP(model->values + PAST_Y, model->values + INPUTS);
}

// One step later, what is present has become the past.
static void advance(Model *model)
{
    update(model);
    memmove(model->values + INPUTS + N_INPUTS, model->values + INPUTS, N_PAST_U * sizeof(double));
    if (N_PAST_Y > 0) {
        memmove(model->values + PAST_Y + 1, model->values + PAST_Y, (N_PAST_Y - (N_PAST_Y > 0)) * sizeof(double));
        model->values[PAST_Y] = model->values[OUTPUT];
    }
}

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT Status fmi2SetDebugLogging(void *m, int on, size_t n, const char *const names[]) { return OK; }

EXPORT void *fmi2Instantiate(const char *name, int type, const char *guid, const char *resources, const void *callbacks,
                             int visible, int logging)
{
    if (type != 1 || guid == NULL || strcmp(guid, GUID) != 0)
        return NULL;
    Model *model = malloc(sizeof(Model));
    if (model != NULL)
        memcpy(model->values, start, sizeof start);
    return model;
}

EXPORT void fmi2FreeInstance(void *m) { free(m); }
EXPORT Status fmi2SetupExperiment(void *m, int t, double tolerance, double begin, int s, double end) { return OK; }
EXPORT Status fmi2EnterInitializationMode(void *m) { return OK; }
EXPORT Status fmi2ExitInitializationMode(void *m) { return OK; }
EXPORT Status fmi2Terminate(void *m) { return OK; }

EXPORT Status fmi2Reset(void *m)
{
    memcpy(((Model *)m)->values, start, sizeof start);
    return OK;
}

EXPORT Status fmi2GetReal(void *m, const unsigned references[], size_t n, double values[])
{
    Model *model = m;
    update(model);
    for (size_t i = 0; i < n; i++) {
        if (references[i] >= N_VALUES)
            return ERROR;
        values[i] = model->values[references[i]];
    }
    return OK;
}

EXPORT Status fmi2SetReal(void *m, const unsigned references[], size_t n, const double values[])
{
    for (size_t i = 0; i < n; i++) {
        if (references[i] == OUTPUT || references[i] >= N_VALUES)
            return ERROR;
        ((Model *)m)->values[references[i]] = values[i];
    }
    return OK;
}

// A communication step is a whole number of steps of the model, in which the inputs keep their values.
EXPORT Status fmi2DoStep(void *m, double time, double size, int no_set_state)
{
    const double steps = floor(size / STEP_TIME + 0.5);
    if (steps < 1 || fabs(size - steps * STEP_TIME) > 1e-6 * STEP_TIME)
        return ERROR;
    for (double step = 0; step < steps; step++)
        advance(m);
    update(m);
    return isfinite(((Model *)m)->values[OUTPUT]) ? OK : ERROR;
}

EXPORT Status fmi2CancelStep(void *m) { return ERROR; }

EXPORT Status fmi2GetFMUstate(void *m, void **state)
{
    if (*state == NULL)
        *state = malloc(sizeof(Model));
    if (*state == NULL)
        return ERROR;
    memcpy(*state, m, sizeof(Model));
    return OK;
}

EXPORT Status fmi2SetFMUstate(void *m, void *state)
{
    memcpy(m, state, sizeof(Model));
    return OK;
}

EXPORT Status fmi2FreeFMUstate(void *m, void **state)
{
    free(*state);
    *state = NULL;
    return OK;
}

// What the description of the model says it has not.
#define ABSENT(name, ...) EXPORT Status name(void *m, __VA_ARGS__) { return ERROR; }
// There are no such values: asking for none is right.
#define NO_VALUES(name, type) EXPORT Status name(void *m, const unsigned r[], size_t n, type values[]) { return n ? ERROR : OK; }
NO_VALUES(fmi2GetInteger, int)
NO_VALUES(fmi2SetInteger, const int)
NO_VALUES(fmi2GetBoolean, int)
NO_VALUES(fmi2SetBoolean, const int)
NO_VALUES(fmi2GetString, const char *)
NO_VALUES(fmi2SetString, const char *const)
ABSENT(fmi2SerializedFMUstateSize, void *state, size_t *size)
ABSENT(fmi2SerializeFMUstate, void *state, char bytes[], size_t size)
ABSENT(fmi2DeSerializeFMUstate, const char bytes[], size_t size, void **state)
ABSENT(fmi2GetDirectionalDerivative, const unsigned u[], size_t n, const unsigned k[], size_t o, const double d[], double v[])
ABSENT(fmi2SetRealInputDerivatives, const unsigned r[], size_t n, const int order[], const double values[])
ABSENT(fmi2GetRealOutputDerivatives, const unsigned r[], size_t n, const int order[], double values[])
ABSENT(fmi2GetStatus, int kind, int *value)
ABSENT(fmi2GetRealStatus, int kind, double *value)
ABSENT(fmi2GetIntegerStatus, int kind, int *value)
ABSENT(fmi2GetBooleanStatus, int kind, int *value)
ABSENT(fmi2GetStringStatus, int kind, const char **value)
